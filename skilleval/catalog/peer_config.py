"""Reads the configuration file of agent-skills-eval and says each of its keys in ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from skilleval.catalog.documents import read_document
from skilleval.catalog.rules import misspelt, said
from skilleval.catalog.yaml_text import read_yaml
from skilleval.errors import CatalogError, Problem
from skilleval.strict import nearest

_FORMATS = ("pretty", "jsonl", "silent")
_LAYOUTS = ("iteration", "flat")
_MODES = {True: ["with_skill", "without_skill"], False: ["with_skill"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerConfig:
    """What such a file asks for: `settings` by our dotted keys, `logging` as options of the command line.

    The values are plain, e.g. `{"skill_set.paths": ["./skills"], "runner.concurrency": 4}` and
    `{"log_format": "jsonl"}`.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    logging: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kind:
    """A type of a value: what it is called, and whether a value is one."""

    name: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of theirs: its type, and what it is in ours (`option:` for the command line, empty for nothing).

    The `notice` says what takes its place here; it is not needed where the value is the `usual` one.
    """

    kind: _Kind
    ours: str = ""
    notice: str = ""
    usual: Any = None
    convert: Callable[[Any], Any] = lambda value: value


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_TEXT = _Kind("a text", lambda value: isinstance(value, str) and bool(value))
_TEXTS = _Kind("a list of texts", _is_texts)
_SWITCH = _Kind("true or false", lambda value: isinstance(value, bool))
_COUNT = _Kind("a whole number from 1", _is_whole)
_OBJECT = _Kind("an object", lambda value: isinstance(value, dict))
_FORMAT = _Kind(f"one of {', '.join(_FORMATS)}", lambda value: value in _FORMATS)
_LAYOUT = _Kind(f"one of {', '.join(_LAYOUTS)}", lambda value: value in _LAYOUTS)
_COLOR = _Kind("true, false or auto", lambda value: isinstance(value, bool) or value == "auto")
_REPORT = _Kind("true, false or an object", lambda value: isinstance(value, bool | dict))
_FILES = "each run has a folder of its own below paths.output_dir, and no run changes another's"
_KEYS: Mapping[str, _Key] = {
    "root": _Key(_TEXT, "skill_set.paths", convert=lambda value: [value]),
    "workspace": _Key(_TEXT, "paths.output_dir"),
    "baseline": _Key(_SWITCH, "skill_set.modes", convert=lambda value: list(_MODES[value])),
    "target": _Key(_TEXT, "model.name"),
    "judge": _Key(_TEXT, "judge.name"),
    "baseUrl": _Key(_TEXT, "model.base_url"),
    "apiKeyEnv": _Key(_TEXT, "model.api_key_env"),
    "include": _Key(_TEXTS, "skill_set.include"),
    "exclude": _Key(_TEXTS, "skill_set.exclude"),
    "concurrency": _Key(_COUNT, "runner.concurrency"),
    "strict": _Key(_SWITCH, "skill_set.strict"),
    "targetParams": _Key(_OBJECT, "model.params"),
    "judgeParams": _Key(_OBJECT, "scorers.task.evals.llm_judge.params"),
    "layout": _Key(_LAYOUT, notice=_FILES),
    "report": _Key(_REPORT),
    "logging": _Key(_OBJECT),
}
_WITHIN: Mapping[str, Mapping[str, _Key]] = {
    "report": {
        "enabled": _Key(
            _SWITCH, notice="reports are always written; choose which with report.formats", usual=True
        ),
        "title": _Key(_TEXT, "report.title"),
        "output": _Key(_TEXT, notice="reports stand in the folder of the run"),
    },
    "logging": {
        "format": _Key(_FORMAT, "option:log_format"),
        "verbose": _Key(_SWITCH, notice="say -v on the command line", usual=False),
        "file": _Key(_TEXT, "option:log_file"),
        "color": _Key(_COLOR, notice="colours follow the terminal and NO_COLOR", usual="auto"),
        "snippetLength": _Key(_COUNT, notice="whole texts are in the report, and in the results"),
    },
}


def read_peer_config(path: Path) -> PeerConfig:
    """Read a configuration of agent-skills-eval: JSON where the file is called so, YAML else.

    Raises:
        CatalogError: it cannot be read, or has unknown keys or values of another type: all of them are named.
    """
    value = read_document(path).value if path.suffix == ".json" else read_yaml(path)
    where = str(path)
    if value is None:
        value = {}
    if not isinstance(value, dict):
        _refuse(where, [Problem(where=where, expected="an object", found=said(value))])
    problems = list(_problems(value, _KEYS, "", where))
    pairs = list(_pairs(value, _KEYS, ""))
    for name, keys in _WITHIN.items():
        inside = value.get(name)
        if isinstance(inside, dict):
            problems += _problems(inside, keys, f"{name}.", where)
            pairs += _pairs(inside, keys, f"{name}.")
        elif isinstance(inside, bool) and name == "report":
            pairs.append(("report.enabled", keys["enabled"], inside))
    if problems:
        _refuse(where, problems)
    return _config(where, pairs)


def _refuse(where: str, problems: list[Problem]) -> NoReturn:
    msg = f"{where} is no usable configuration of agent-skills-eval"
    raise CatalogError(msg, problems=tuple(problems))


def _problems(
    value: Mapping[str, Any], keys: Mapping[str, _Key], prefix: str, where: str
) -> Iterator[Problem]:
    for name, given in value.items():
        key = f"{prefix}{name}"
        if name not in keys:
            hint = nearest(misspelt(name, keys) or name, list(keys))
            yield Problem(where=where, key=key, expected="a known key", found=said(name), hint=hint)
        elif not keys[name].kind.fits(given):
            yield Problem(where=where, key=key, expected=keys[name].kind.name, found=said(given))


def _pairs(
    value: Mapping[str, Any], keys: Mapping[str, _Key], prefix: str
) -> Iterator[tuple[str, _Key, Any]]:
    for name, given in value.items():
        if name in keys:
            yield f"{prefix}{name}", keys[name], given


def _config(where: str, pairs: list[tuple[str, _Key, Any]]) -> PeerConfig:
    settings: dict[str, Any] = {}
    logging: dict[str, Any] = {}
    notices: list[str] = []
    for name, key, given in pairs:
        if key.notice and given != key.usual:
            notices.append(f"{where}: {name}: without effect: {key.notice}")
        elif key.ours.startswith("option:"):
            logging[key.ours.removeprefix("option:")] = given
        elif key.ours:
            settings[key.ours] = key.convert(given)
    return PeerConfig(settings=settings, logging=logging, notices=tuple(notices))
