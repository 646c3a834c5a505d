"""Foreign exceptions mapped at the door: what Hydra and OmegaConf raise becomes a `ConfigError` in our words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from hydra.core.object_type import ObjectType
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, MissingConfigException
from omegaconf.errors import OmegaConfBaseException
from yaml import MarkedYAMLError, YAMLError

from skilleval.config.compose.contributions import Contribution, read_contributions
from skilleval.config.compose.launching import GROUP as LAUNCHER
from skilleval.config.compose.launching import missing_launcher
from skilleval.config.compose.layer_files import SUBTREES, yaml_error
from skilleval.config.compose.overrides import overridden_groups, parse_overrides
from skilleval.config.compose.phrases import Phrase, hydra_phrase
from skilleval.config.compose.session import Sources, loader_of
from skilleval.config.request import EXPERIMENT
from skilleval.config.trees import covers, is_open, siblings
from skilleval.errors import ConfigError, InterruptionsKept, Problem
from skilleval.strict import nearest

FOREIGN = (
    HydraException,
    OmegaConfBaseException,
    YAMLError,
    OSError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a bad setting makes Hydra raise: beside its own exceptions it lets those of its insides through."""

_NOT_OVERRIDDEN = re.compile(r"Could not override '([^']*)'")
_FULL_KEY = re.compile(r"full_key: (\S+)")
_COMMAND_LINE = "command line"


@contextmanager
def mapped(sources: Sources, known: Callable[[], Mapping[str, Any]]) -> Iterator[None]:
    """Turn foreign exceptions into a `ConfigError`; `known` gives the config to look near names up in."""
    try:
        with InterruptionsKept():
            yield
    except FOREIGN as error:
        raise config_error(error, sources, known) from None


def config_error(error: Exception, sources: Sources, known: Callable[[], Mapping[str, Any]]) -> ConfigError:
    """Say a foreign exception in our words."""
    if isinstance(error, YAMLError):
        place = (
            error.problem_mark.name if isinstance(error, MarkedYAMLError) and error.problem_mark else "conf"
        )
        return yaml_error(error, place)
    if isinstance(error, OSError) and error.strerror:
        problem = Problem(
            where=str(error.filename or "conf"), expected="a file to read", found=error.strerror.lower()
        )
        return ConfigError("a file cannot be read", problems=(problem,))
    if isinstance(error, MissingConfigException):
        return _missing_option(error, sources)
    text = _first_words(error)
    unknown = _NOT_OVERRIDDEN.search(text)
    if unknown:
        return _unknown_key(unknown[1], error, sources, known)
    return ConfigError("the settings cannot be composed", problems=(_other(text, error, sources),))


def _first_words(error: Exception) -> str:
    """Give the text of an exception, or of its cause where Hydra wrapped it into an empty one."""
    text = str(error).strip()
    cause = error.__cause__
    if cause is not None and (not text or text.startswith("Error merging override")):
        text = f"{text}: {cause}".removeprefix(": ")
    return text


def _missing_option(error: MissingConfigException, sources: Sources) -> ConfigError:
    group, _, option = (error.missing_cfg_file or "").rpartition("/")
    missing = missing_launcher(option) if group == LAUNCHER else None
    if missing is not None:
        return missing
    lister = next((str(layer.path) for layer in sources.layers if option in _texts(layer.values)), None)
    if not group and lister:
        expected = "override /GROUP: OPTION in each entry"
        problem = Problem(where=lister, key="defaults", expected=expected, found=option)
        return ConfigError("there is no such config", problems=(problem,))
    if not group:
        problem = Problem(where=_COMMAND_LINE, key="--config-name", expected="a primary config", found=option)
        return ConfigError("there is no such config", problems=(problem,))
    problem = Problem(
        where=_chooser(group, sources),
        key=group,
        expected=f"an option of the group {group}",
        found=option,
        hint=_near_option(group, option, sources),
    )
    return ConfigError("there is no such option", problems=(problem,))


def _near_option(group: str, option: str, sources: Sources) -> str:
    """Name the option that was meant, else all of them and the file that would add this one."""
    hint = nearest(option, _options(group, sources))
    is_ours = not group.startswith("hydra")
    return f"{hint}; conf/{group}/{option}.yaml adds one" if hint.startswith("known") and is_ours else hint


def _texts(values: Mapping[str, Any]) -> list[str]:
    """Give the entries of a defaults list that are bare names of configs."""
    entries = values.get("defaults")
    return [one for one in entries if isinstance(one, str)] if isinstance(entries, list) else []


def _options(group: str, sources: Sources) -> list[str]:
    """Give the options of a group: Hydra names none where several were chosen in a list."""
    with loader_of(sources) as loader:
        return [str(name) for name in loader.get_group_options(group, results_filter=ObjectType.CONFIG)]


def _chooser(group: str, sources: Sources) -> str:
    """Give the settings file that chooses an option of the group, else the command line."""
    for layer in sources.layers:
        if group in overridden_groups(layer.values):
            return str(layer.path)
    return _COMMAND_LINE


def _unknown_key(
    key: str, error: Exception, sources: Sources, known: Callable[[], Mapping[str, Any]]
) -> ConfigError:
    text = _first_words(error)
    where = _mentioned(text, sources) or _COMMAND_LINE
    if f"use +{key}=" in text and "default list" in text:
        problem = Problem(
            where=where, key=key, expected="a group that is in use", hint=f"write +{key}=OPTION"
        )
        return ConfigError("a group has no place yet", problems=(problem,))
    if key.partition(".")[0] == "hydra":
        problem = Problem(where=where, key=key, expected="a key of Hydra's own", hint="see --cfg hydra")
        return ConfigError("there is no such setting", problems=(problem,))
    # Of `runner={repeets: 3}` Hydra names the mapping alone, OmegaConf the key.
    deeper = _FULL_KEY.search(str(error.__cause__ or ""))
    key = deeper[1] if deeper and covers(key, deeper[1]) else key
    found, names = siblings(known(), key)
    if "defaults list" in text and key == EXPERIMENT:
        hint = f"an experiment is asked for on the command line: +{EXPERIMENT}=NAME"
        problem = Problem(where=where, key=key, expected="a group that is in use", hint=hint)
        return ConfigError("a group has no place yet", problems=(problem,))
    if "defaults list" in text:  # a group is meant, not a key
        groups = {subtree: group for group, subtree in SUBTREES.items()}
        names = [groups.get(name, name) for name in names]
    above = key.rpartition(".")[0]
    if is_open(known(), key):
        hint = f"{above} takes keys of your own behind a plus: +{key}=VALUE"
    else:
        hint = nearest(found, names) if names else f"{above} is one value, without keys of its own"
    problem = Problem(where=where, key=key, expected="a known key", found=found, hint=hint)
    return ConfigError("there is no such setting", problems=(problem,))


def _other(text: str, error: Exception, sources: Sources) -> Problem:
    """Say any other mistake; what we have no words for is quoted as a hint, never as what was found."""
    override = _ill_typed_choice(sources)
    if override is not None:
        return override
    key = _FULL_KEY.search(f"{text}\n{error.__cause__ or ''}")
    phrase = hydra_phrase(f"{text}\n") or Phrase(expected="settings that fit together", hint=_quoted(text))
    where = _mentioned(text, sources) or _writer(phrase, sources)
    return Problem(
        where=where,
        key=phrase.key or (key[1] if key else ""),
        expected=phrase.expected,
        found=phrase.found,
        hint=phrase.hint,
    )


def _quoted(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    noise = ("full_key:", "object_type=", "reference_type=", "See http")
    return f"Hydra says: {'; '.join(line for line in lines if line and not line.startswith(noise))}"


def _ill_typed_choice(sources: Sources) -> Problem | None:
    """Find the override that gives a group something else than the name of an option: Hydra does not name it."""
    given = parse_overrides(sources.request.overrides)
    groups = sources.request.groups
    one = next((one for one in given if one.key_or_group in groups and _is_no_choice(one)), None)
    if one is None:
        return None
    group = str(one.key_or_group)
    return Problem(
        where=f"{_COMMAND_LINE}: {one.input_line}",
        key=group,
        expected=f"an option of the group {group}",
        found=str(one.input_line).partition("=")[2],
        hint=nearest("", _options(group, sources)),
    )


def _is_no_choice(override: Override) -> bool:
    if override.is_delete() or override.is_sweep_override():
        return False
    value = override.value()
    values = value if isinstance(value, list) else [value]
    return not all(isinstance(one, str | dict) for one in values)


def _writer(phrase: Phrase, sources: Sources) -> str:
    """Give who wrote what a phrase is about: a settings file with a defaults list, or the command line."""
    if phrase.key == "defaults":
        return next((str(layer.path) for layer in sources.layers if layer.values.get("defaults")), "config")
    written = [
        one.input_line for one in parse_overrides(sources.request.overrides) if one.key_or_group == phrase.key
    ]
    return f"{_COMMAND_LINE}: {written[0]}" if written and phrase.key else "config"


def _mentioned(text: str, sources: Sources) -> str | None:
    """Give the settings file that a message of Hydra speaks of by its name in the defaults list."""
    return next((str(layer.path) for layer in sources.layers if f"'{layer.name}'" in text), None)


def located(error: ConfigError, sources: Sources) -> ConfigError:
    """Give the error with each problem's `where` replaced by the file or override that set the key."""
    contributions = read_contributions(sources)
    problems = tuple(
        replace(one, where=_source(one.key, contributions) or one.where) for one in error.problems
    )
    return ConfigError(error.message, problems=problems, hint=error.hint)


def _source(place: str, contributions: tuple[Contribution, ...]) -> str | None:
    key = place.partition("[")[0]  # an entry of a list stands where the list stands
    for contribution in reversed(contributions):
        if any(covers(key, one) or covers(one, key) for one in contribution.values):
            where = contribution.source
            return f"{_COMMAND_LINE}: {where}" if contribution.layer == _COMMAND_LINE else where
    return None
