"""Where each setting comes from, and who chose the option of each group."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from skilleval.config.request import Request
from skilleval.config.trees import covers, leaves, siblings
from skilleval.errors import ConfigError, Problem
from skilleval.strict import nearest

_NULLS = frozenset({"null", "Null", "NULL", "~"})
_OPENERS = tuple("\"'[{")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One leaf of the settings, or the choice of a group: its value, the layer that gives it, and where it stands.

    Layers from weak to strong: `search path` (Hydra's own), `shipped`, `project conf`, `config dir`, `user file`,
    `project file`, `command line`. A value that is still missing is `???`.
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
    from skilleval.config.compose.placement import check_placement
    from skilleval.config.compose.session import read_sources

    sources = read_sources(request)
    check_placement(sources)
    values = plain_values(without_hydra(compose_config(sources)), sources)
    history = _history(request)
    return tuple(_in_force(key, value, history) for key, value in leaves(values))


def setting(request: Request, key: str) -> tuple[Setting, ...]:
    """Give the setting at a dotted key, or all settings below it; of a group first the option that is chosen.

    Raises:
        ConfigError: there is no such key; the nearest right one is named.
    """
    settings = setting_list(request)
    found = tuple(one for one in settings if covers(key, one.key))
    return _known(request, key, (*_choices(request, key)[-1:], *found), settings)


def where(request: Request, key: str) -> tuple[Setting, ...]:
    """Give all that is said about a dotted key, weakest first: the last one wins. Values are as written.

    Of a group first every choice of an option is given.

    Raises:
        ConfigError: there is no such key; the nearest right one is named.
    """
    history = _history(request)
    found = tuple(one for one in history if covers(key, one.key))
    return _known(request, key, (*_choices(request, key), *found), history)


def _choices(request: Request, key: str) -> tuple[Setting, ...]:
    from skilleval.config.compose.choices import read_choices
    from skilleval.config.compose.session import read_sources

    if key not in request.groups:
        return ()
    return tuple(
        Setting(key=key, value=one.values[key], layer=one.layer, source=one.source)
        for one in read_choices(read_sources(request), key)
    )


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


def _known(
    request: Request, key: str, found: tuple[Setting, ...], all_settings: tuple[Setting, ...]
) -> tuple[Setting, ...]:
    if found:
        return found
    tree: dict[str, Any] = {}
    for one in all_settings:
        node = tree
        for part in one.key.split("."):
            node = node.setdefault(part, {})
    if key in request.groups:
        problem = Problem(
            where="config", key=key, found="no option chosen", hint=f"choose one: +{key}=OPTION"
        )
        raise ConfigError("this group has no place yet", problems=(problem,))
    word, names = siblings(tree, key)
    names += request.groups if word == key else ()
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
