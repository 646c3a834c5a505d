"""Overrides of the command line: rendering values into Hydra's grammar and reading what was chosen."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, Quote, QuotedString, ValueType
from hydra.errors import HydraException

from skilleval.config.compose.layer_files import choosing_file
from skilleval.config.request import EXPERIMENT, Request
from skilleval.errors import ConfigError, Problem, UsageError

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = frozenset({"null", "true", "false", "nan", "inf"})
_OPENS = re.compile(r"(\\*)\$\{")


def quote(value: Any) -> str:
    """Render a value so that Hydra reads exactly it behind `key=`: no sweep, no cast, no interpolation.

    Raises:
        UsageError: the grammar has no way to say it: the text `???`, a mapping key that is no plain word, or a
            type that settings do not have.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _quoted(value)
        case list() | tuple():
            return f"[{','.join(quote(item) for item in value)}]"
        case Mapping():
            return f"{{{','.join(f'{_key(key)}:{quote(item)}' for key, item in value.items())}}}"
    msg = f"a value of type {type(value).__name__} cannot be a setting"
    raise UsageError(msg)


def _quoted(text: str) -> str:
    if text == "???":
        raise UsageError("the text ??? cannot be a value", hint="it stands for a missing value in a config")
    # `${` would start an interpolation; a backslash takes its meaning, and backslashes before it must double.
    literal = _OPENS.sub(lambda match: rf"{match[1] * 2}\${{", text)
    return QuotedString(text=literal, quote=Quote.single).with_quotes()


def _key(key: object) -> str:
    if isinstance(key, str) and _PLAIN_KEY.fullmatch(key) and key.lower() not in _WORDS:
        return key
    msg = f"the key {key!r} cannot be written on a command line"
    raise UsageError(msg, hint="put the value into skilleval.yaml")


def parse_overrides(overrides: Sequence[str]) -> list[Override]:
    """Parse overrides.

    Raises:
        ConfigError: one of them is not written in Hydra's grammar.
    """
    parser = OverridesParser.create()
    parsed = []
    for text in overrides:
        try:
            parsed.extend(parser.parse_overrides([text]))
        except HydraException:
            _, equals, value = text.partition("=")
            found = f"the value {value}" if equals else "no equals sign"
            hint = f"quote special characters; {as_one_value(text)}" if equals else "write KEY=VALUE"
            problem = Problem(where="command line", key=text, expected="key=value", found=found, hint=hint)
            raise ConfigError("an override cannot be read", problems=(problem,)) from None
    return parsed


def refuse_split(overrides: Sequence[str]) -> None:
    """Refuse values that Hydra would split into several, where no sweep is asked for: a pasted text holds commas.

    Raises:
        ConfigError: names each of them, what it would be split into, and how the one value is written.
    """
    problems = tuple(_split(one) for one in parse_overrides(overrides) if one.is_sweep_override())
    if problems:
        raise ConfigError("a value would be split into several", problems=problems)


def _split(override: Override) -> Problem:
    key, _, value = str(override.input_line).partition("=")
    return Problem(
        where="command line",
        key=key,
        expected="one value",
        found=f"several: {value}",
        hint=f"several runs are -m; {as_one_value(str(override.input_line))}",
    )


def as_one_value(override: str) -> str:
    """Say how an override is written in a shell so that all of its value is one text: in quotes, and quoted again."""
    key, _, value = override.partition("=")
    if value == "???":
        return "it stands for a missing value"
    return f"as one text: {shlex.quote(f'{key}={quote(value)}')}"


def chosen_groups(request: Request, parsed: Sequence[Override]) -> frozenset[str]:
    """Give the groups that the command line decides: by `group=option`, by a sweep, or by an experiment."""
    chosen = {override.key_or_group for override in parsed if may_choose(override)}
    for _, _, values in experiments(request, parsed):
        chosen |= overridden_groups(values)
    return frozenset(chosen)


def experiments(
    request: Request, parsed: Sequence[Override] | None = None
) -> tuple[tuple[str, Path, Mapping[str, Any]], ...]:
    """Give the files of the experiments that the command line asks for, as far as they choose options."""
    overrides = parse_overrides(request.overrides) if parsed is None else parsed
    names = [name for one in overrides if one.key_or_group == EXPERIMENT for name in _options(one)]
    found = [choosing_file(request, f"{EXPERIMENT}/{name}") for name in names]
    return tuple(one for one in found if one)


def group_choices(overrides: Sequence[str]) -> list[str]:
    """Give those overrides that choose one option of a group, as far as their form tells."""
    parsed = parse_overrides(overrides)
    return [
        text
        for text, one in zip(overrides, parsed, strict=True)
        if may_choose(one) and not one.is_sweep_override()
    ]


def may_choose(override: Override) -> bool:
    """Say whether an override may choose an option of a group, as far as its form tells."""
    return "." not in override.key_or_group and not isinstance(override.value(), dict)


def _options(override: Override) -> list[str]:
    if override.is_choice_sweep() and override.value_type is not ValueType.GLOB_CHOICE_SWEEP:
        return list(override.sweep_string_iterator())
    value = override.value()
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def overridden_groups(values: Mapping[str, Any]) -> set[str]:
    """Give the groups that a config decides through `override` entries of its defaults list."""
    entries = values.get("defaults") or []
    keys = [str(key) for entry in entries if isinstance(entry, Mapping) for key in entry]
    return {key.removeprefix("override ").lstrip("/") for key in keys if key.startswith("override ")}


def source_of(path: str | Path, name: str) -> str:
    """Give the file of a config inside a folder of groups."""
    return str(Path(path) / f"{name}.yaml")
