"""Foreign exceptions mapped at the door: what Hydra and OmegaConf raise becomes a `ConfigError` in our words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from hydra.errors import HydraException, MissingConfigException
from omegaconf.errors import OmegaConfBaseException
from yaml import MarkedYAMLError, YAMLError

from skilleval.config.compose.contributions import Contribution, read_contributions
from skilleval.config.compose.layer_files import SUBTREES, yaml_error
from skilleval.config.compose.overrides import overridden_groups
from skilleval.config.compose.session import Sources
from skilleval.config.trees import covers, siblings
from skilleval.errors import ConfigError, Problem
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
    if isinstance(error, MissingConfigException):
        return _missing_option(error, sources)
    text = _first_words(error)
    unknown = _NOT_OVERRIDDEN.search(text)
    if unknown:
        return _unknown_key(unknown[1], text, sources, known)
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
    options = [str(name) for name in error.options or ()]
    if not group:
        problem = Problem(where=_COMMAND_LINE, expected="a primary config", found=option)
        return ConfigError("there is no such config", problems=(problem,))
    problem = Problem(
        where=_chooser(group, sources),
        key=group,
        expected=f"an option of the group {group}",
        found=option,
        hint=nearest(option, options),
    )
    return ConfigError("there is no such option", problems=(problem,))


def _chooser(group: str, sources: Sources) -> str:
    """Give the settings file that chooses an option of the group, else the command line."""
    for layer in sources.layers:
        if group in overridden_groups(layer.values):
            return str(layer.path)
    return _COMMAND_LINE


def _unknown_key(
    key: str, text: str, sources: Sources, known: Callable[[], Mapping[str, Any]]
) -> ConfigError:
    where = _mentioned(text, sources) or _COMMAND_LINE
    if f"use +{key}=" in text and "default list" in text:
        problem = Problem(
            where=where, key=key, expected="a group that is in use", hint=f"write +{key}=OPTION"
        )
        return ConfigError("a group has no place yet", problems=(problem,))
    if key.partition(".")[0] == "hydra":
        problem = Problem(where=where, key=key, expected="a key of Hydra's own", hint="see --cfg hydra")
        return ConfigError("there is no such setting", problems=(problem,))
    found, names = siblings(known(), key)
    if "defaults list" in text:  # a group is meant, not a key
        groups = {subtree: group for group, subtree in SUBTREES.items()}
        names = [groups.get(name, name) for name in names]
    problem = Problem(where=where, key=key, expected="a known key", found=found, hint=nearest(found, names))
    return ConfigError("there is no such setting", problems=(problem,))


def _other(text: str, error: Exception, sources: Sources) -> Problem:
    where = _mentioned(text, sources) or "config"
    text = re.sub(r"^In '[^']*': | in '(user|project)_file'", "", text)
    key = _FULL_KEY.search(f"{text}\n{error.__cause__ or ''}")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = [
        line
        for line in lines
        if not line.startswith(("full_key:", "object_type=", "reference_type=", "See http"))
    ]
    hint = ""
    if text.startswith("Ambiguous value"):
        where, said, hint = (
            _COMMAND_LINE,
            said[:1],
            "a list is [a,b], one text is 'a,b' in quotes, several runs are -m",
        )
    return Problem(where=where, key=key[1] if key else "", found="; ".join(said), hint=hint)


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


def _source(key: str, contributions: tuple[Contribution, ...]) -> str | None:
    for contribution in reversed(contributions):
        if any(covers(key, one) or covers(one, key) for one in contribution.values):
            where = contribution.source
            return f"{_COMMAND_LINE}: {where}" if contribution.layer == _COMMAND_LINE else where
    return None
