"""Where each setting comes from, and how a settings file is changed without losing its comments."""

from __future__ import annotations

import io
import json
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilleval.config.request import Request
from skilleval.config.trees import covers, leaves, siblings
from skilleval.errors import ConfigError, Problem
from skilleval.strict import nearest

_NULLS = frozenset({"null", "Null", "NULL", "~"})
_FLUSH_LIST = re.compile(r"^- ", re.MULTILINE)
_OPENERS = tuple("\"'[{")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One leaf of the settings: its value, the layer that gives it, and the file or override it stands in.

    Layers from weak to strong: `shipped`, `project conf`, `config dir`, `user file`, `project file`,
    `command line`. A value that is still missing is `???`.
    """

    key: str
    value: Any
    layer: str
    source: str


def setting_list(request: Request) -> tuple[Setting, ...]:
    """Give every setting as it is in force, in the order of the composed config.

    Raises:
        ConfigError: the settings cannot be composed.
    """
    from skilleval.config.compose.composing import compose_config, plain_values, without_hydra
    from skilleval.config.compose.session import read_sources

    sources = read_sources(request)
    values = plain_values(without_hydra(compose_config(sources)), sources)
    history = _history(request)
    return tuple(_in_force(key, value, history) for key, value in leaves(values))


def setting(request: Request, key: str) -> tuple[Setting, ...]:
    """Give the setting at a dotted key, or all settings below it.

    Raises:
        ConfigError: there is no such key; the nearest right one is named.
    """
    settings = setting_list(request)
    return _known(key, tuple(one for one in settings if covers(key, one.key)), settings)


def where(request: Request, key: str) -> tuple[Setting, ...]:
    """Give all that is said about a dotted key, weakest first: the last one wins. Values are as written.

    Raises:
        ConfigError: there is no such key; the nearest right one is named.
    """
    history = _history(request)
    return _known(key, tuple(one for one in history if covers(key, one.key)), history)


def _history(request: Request) -> tuple[Setting, ...]:
    from skilleval.config.compose.contributions import read_contributions
    from skilleval.config.compose.session import read_sources

    return tuple(
        Setting(key=key, value=value, layer=contribution.layer, source=contribution.source)
        for contribution in read_contributions(read_sources(request))
        for key, value in contribution.values.items()
    )


def _in_force(key: str, value: Any, history: tuple[Setting, ...]) -> Setting:
    """Give the strongest that was said about a key; a mapping that became empty is found by what lies around it."""
    said = next(one for one in reversed(history) if covers(one.key, key) or covers(key, one.key))
    return replace(said, key=key, value=value)


def _known(key: str, found: tuple[Setting, ...], all_settings: tuple[Setting, ...]) -> tuple[Setting, ...]:
    if found:
        return found
    tree: dict[str, Any] = {}
    for one in all_settings:
        node = tree
        for part in one.key.split("."):
            node = node.setdefault(part, {})
    word, names = siblings(tree, key)
    problem = Problem(where="config", key=key, expected="a known key", found=word, hint=nearest(word, names))
    raise ConfigError("there is no such setting", problems=(problem,))


def parse_value(text: str) -> Any:
    """Read a value given as text: JSON, or a YAML scalar, list or mapping in flow style; else it is the text."""
    from skilleval.config.compose.layer_files import parse_scalar

    try:
        return json.loads(text)
    except ValueError:
        parsed = parse_scalar(text)
    if text.startswith(_OPENERS):
        return parsed
    # Block style, a comment or a half-quoted word is not what somebody means who types one value.
    plain = isinstance(parsed, str | dict | list) or (parsed is None and text not in _NULLS)
    return text if plain else parsed


def write_setting(path: Path, key: str, value: Any, *, request: Request) -> None:
    """Set a key in a settings file; comments and order stay, and a wrong setting leaves the file as it was.

    `path` is the user's or the project's file as the request finds them; it is made if it does not exist.

    Raises:
        ConfigError: the key is unknown, the value wrong, or the file not one of the two.
    """
    from skilleval.config.compose.composing import check_draft
    from skilleval.config.compose.layer_files import parse_mapping, read_layers
    from skilleval.config.compose.session import read_sources

    layers = read_layers(request)
    if path.absolute() not in {layer.path.absolute() for layer in layers}:
        problem = Problem(where=str(path), expected=" or ".join(str(layer.path) for layer in layers))
        raise ConfigError("this file is not read as settings", problems=(problem,))
    text = _edited(path, key, value)
    values = parse_mapping(text, path)
    draft = tuple(
        replace(layer, values=values) if layer.path.absolute() == path.absolute() else layer
        for layer in layers
    )
    check_draft(read_sources(request, layers=draft))
    _replace(path.resolve(), text)


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    if path.exists():
        shutil.copymode(path, beside)
    beside.replace(path)


def _edited(path: Path, key: str, value: Any) -> str:
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1_000_000  # long lines of a person's file are not folded
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if not _FLUSH_LIST.search(text):
        yaml.indent(mapping=2, sequence=4, offset=2)
    document = yaml.load(text) or {}
    node = document
    *parents, last = key.split(".")
    for parent in parents:
        if not isinstance(node.get(parent), dict):
            node[parent] = {}
        node = node[parent]
    node[last] = _written(value)
    out = io.StringIO()
    yaml.dump(document, out)
    return out.getvalue()


def _written(value: Any) -> Any:
    """Give texts in quotes: YAML 1.1 and 1.2 differ in which bare words are something else."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    if isinstance(value, str):
        return DoubleQuotedScalarString(value)
    if isinstance(value, list):
        return [_written(item) for item in value]
    if isinstance(value, dict):
        return {key: _written(item) for key, item in value.items()}
    return value
