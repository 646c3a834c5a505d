"""Changing a settings file: what would be wrong is refused, and the file stays as it was."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skilleval.config.compose.composing import check_draft
from skilleval.config.compose.layer_files import LayerFile, parse_mapping, parse_scalar, read_layers
from skilleval.config.compose.session import read_sources
from skilleval.config.request import Request
from skilleval.config.settings_text import with_choice, with_value, without_choice, without_key
from skilleval.config.trees import at, leaves, merged, placed, without
from skilleval.errors import ConfigError, Problem
from skilleval.strict import nearest

_ABSENT = object()
_KEY = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*", re.ASCII)


def write_setting(
    path: Path,
    key: str,
    value: Any,
    *,
    request: Request,
    accept: Callable[[Mapping[str, Any]], None] | None = None,
) -> None:
    """Set a key in a settings file, or choose the option of a group; everything else in the file stays.

    `path` is the user's or the project's file as the request finds them; it is made if it does not exist. A group as
    key (`scorer`) with an option or a list of options as value is a choice; any other key is a setting. Both are
    checked as if they held: stronger files and the command line are left out. `accept` is asked too: it gets all
    values as they would be, and knows what the parts behind the settings refuse.

    Raises:
        ConfigError: the key is unknown, the value or option wrong, or the file not one of the two.
        SkillevalError: as `accept` raises.
    """
    _refuse_no_key(key)
    layers = _layers_up_to(path, request)
    text = _text(path)
    before = layers[-1].values
    if key in request.groups and not isinstance(value, Mapping):
        draft, after = with_choice(text, key, _options(key, value)), before
    else:
        draft, after = with_value(text, key, value), merged(without(before, key), placed(key, value))
    _check(draft, layers, request, accept)
    _refuse_side_effects(draft, after, path, key)
    _replace(path.resolve(), draft)


def unset_setting(path: Path, key: str, *, request: Request) -> None:
    """Take a key out of a settings file, or the choice of a group; what holds then is what the weaker layers say.

    A group that the file both chooses and sets keys of loses the choice alone. What is wrong in the file already is no
    reason to refuse: taking wrong keys out is how a file is mended.

    Raises:
        ConfigError: the file does not say the key, what is left would be wrong, or the file is not one of the two.
    """
    layers = _layers_up_to(path, request)
    text = _text(path)
    draft, after = without_choice(text, key), layers[-1].values
    if draft == text:
        _refuse_unsaid(layers[-1], key)
        draft, after = without_key(text, key), _without(after, key)
    try:
        _check(draft, layers, request)
    except ConfigError:
        if _is_right(text, layers, request):
            raise
    _refuse_side_effects(draft, after, path, key)
    _replace(path.resolve(), draft)


def _refuse_no_key(key: str) -> None:
    """Refuse what is no dotted key at all: written down, YAML would read it as something else, or not at all."""
    if not _KEY.fullmatch(key) or any(not isinstance(parse_scalar(part), str) for part in key.split(".")):
        expected, found = "a dotted key, e.g. runner.repeats", json.dumps(key, ensure_ascii=False)
        problem = Problem(where="config", expected=expected, found=found)
        raise ConfigError("there is no such setting", problems=(problem,))


def _layers_up_to(path: Path, request: Request) -> tuple[LayerFile, ...]:
    """Give the settings files up to the one at the path, weakest first."""
    layers = read_layers(request)
    places = [layer.path.absolute() for layer in layers]
    if path.absolute() not in places:
        problem = Problem(where=str(path), expected=" or ".join(str(layer.path) for layer in layers))
        raise ConfigError("this file is not read as settings", problems=(problem,))
    return layers[: places.index(path.absolute()) + 1]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _options(group: str, value: Any) -> str | list[str]:
    """Give the options that a value names: one text, or several."""
    values = value if isinstance(value, list) else [value]
    if not values or any(isinstance(one, list | dict) or one is None for one in values):
        problem = Problem(
            where="value", key=group, expected="an option, or a list of options", found=json.dumps(value)[:80]
        )
        raise ConfigError("a group is set by the name of an option", problems=(problem,))
    return [str(one) for one in value] if isinstance(value, list) else str(value)


def _without(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Give what a file says once a key is gone, and what is empty without it."""
    left = without(values, key)
    parent = key.rpartition(".")[0]
    return _without(values, parent) if parent and at(left, parent) == {} else left


def _refuse_side_effects(draft: str, after: Mapping[str, Any], path: Path, key: str) -> None:
    """Refuse a draft that changes anything else: an alias, for one, stands for a value written elsewhere."""
    if _beside_choices(parse_mapping(draft, path)) != _beside_choices(after):
        problem = Problem(where=str(path), key=key, hint="change it in an editor")
        raise ConfigError("this file is written in a way that cannot be changed safely", problems=(problem,))


def _beside_choices(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != "defaults"}


def _check(
    text: str,
    layers: tuple[LayerFile, ...],
    request: Request,
    accept: Callable[[Mapping[str, Any]], None] | None = None,
) -> None:
    """Refuse a draft that would be wrong if nothing stronger were said."""
    *weaker, edited = layers
    draft = replace(edited, values=parse_mapping(text, edited.path))
    alone = replace(request, overrides=())
    check_draft(read_sources(alone, layers=(*weaker, draft, *_silent(request, layers))), accept)


def _silent(request: Request, layers: tuple[LayerFile, ...]) -> tuple[LayerFile, ...]:
    return tuple(replace(layer, values={}) for layer in read_layers(request)[len(layers) :])


def _is_right(text: str, layers: tuple[LayerFile, ...], request: Request) -> bool:
    try:
        _check(text, layers, request)
    except ConfigError:
        return False
    return True


def _refuse_unsaid(layer: LayerFile, key: str) -> None:
    if at(layer.values, key, _ABSENT) is not _ABSENT:
        return
    said = [one for one, _ in leaves(_beside_choices(layer.values))]
    hint = nearest(key, said) if said else "it sets nothing"
    problem = Problem(where=str(layer.path), key=key, expected="a key that the file sets", hint=hint)
    raise ConfigError("there is nothing to unset", problems=(problem,))


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    if path.exists():
        shutil.copymode(path, beside)
    beside.replace(path)
