"""Composing from a stored run: its settings as they were, with overrides on top; today's files say nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hydra import compose
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from skilleval.config.compose.composing import Composed, plain_values, without_hydra
from skilleval.config.compose.layer_files import SUBTREES, LayerFile
from skilleval.config.compose.messages import mapped
from skilleval.config.compose.overrides import may_choose, parse_overrides
from skilleval.config.compose.session import Sources, loader_of, serving
from skilleval.config.request import EXPERIMENT, Request
from skilleval.config.settings import PARTS, Settings
from skilleval.config.trees import covers, merged
from skilleval.config.wording import in_plain_words
from skilleval.errors import ConfigError, Problem

_OPENS = re.compile(r"(\\*)\$\{")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConfig:
    """What the manifest of a run says about its settings; `where` is the manifest."""

    where: Path
    values: Mapping[str, Any]
    overrides: tuple[str, ...] = ()
    choices: Mapping[str, str | None]


def compose_stored(
    stored: StoredConfig, overrides: Sequence[str], *, project: Path, config_dirs: Sequence[Path] = ()
) -> Composed:
    """Compose the settings of a stored run with further overrides.

    A group that is chosen anew takes its values from `conf/` as it is today. Settings that came later than the run
    have their shipped value.

    Raises:
        ConfigError: names each unknown or wrong setting.
    """
    request = Request(project=project, overrides=tuple(overrides), config_dirs=tuple(config_dirs))
    parsed = parse_overrides(overrides)
    _refuse_unfit(parsed)
    sources = Sources(request=request, layers=_silent_layers(stored.where))
    groups = {str(one.key_or_group): one for one in parsed if _chooses(one, request)}
    fresh = _composed(sources, [str(one.input_line) for one in groups.values()])
    values = _with_groups(merged(_without_parts(fresh, stored.values), stored.values), fresh, groups)
    values = _overridden(values, [one for one in parsed if one not in groups.values()], sources)
    return Composed(
        settings=_settings(values, stored.where, parsed, sources),
        values=values,
        overrides=(*stored.overrides, *overrides),
        choices=_choices(stored.choices, groups),
    )


def _silent_layers(where: Path) -> tuple[LayerFile, ...]:
    """Give settings files that say nothing: the composition asks for them by name."""
    names = (("user_file", "user file"), ("project_file", "project file"))
    return tuple(LayerFile(name=name, layer=layer, path=where, values={}) for name, layer in names)


def _refuse_unfit(parsed: Sequence[Override]) -> None:
    """Refuse what would make several runs of one, or change settings all over."""
    problems = []
    for one in parsed:
        line = str(one.input_line)
        if one.is_sweep_override():
            problems.append(Problem(where="command line", key=line, expected="one value", found="several"))
        elif one.key_or_group == EXPERIMENT:
            problems.append(
                Problem(where="command line", key=line, expected="a setting", found="an experiment")
            )
    if problems:
        raise ConfigError("a stored run cannot be changed like that", problems=tuple(problems))


def _chooses(override: Override, request: Request) -> bool:
    return override.key_or_group in request.groups and not override.is_delete() and may_choose(override)


def _composed(sources: Sources, choices: list[str]) -> dict[str, Any]:
    """Compose what `conf/` says today under some choices."""
    request = replace(sources.request, overrides=tuple(choices))
    of_choices = replace(sources, request=request)
    with mapped(of_choices, dict), loader_of(of_choices):
        config = compose(request.config_name, overrides=choices)
        return plain_values(without_hydra(config), of_choices)


def _without_parts(values: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out stored parts: a stored adapter must not get the options of the one that is chosen by default."""
    return {key: value for key, value in values.items() if key not in PARTS or key not in stored}


def _with_groups(
    values: Mapping[str, Any], fresh: Mapping[str, Any], groups: Mapping[str, Override]
) -> dict[str, Any]:
    chosen = {SUBTREES.get(group, group) for group in groups}
    return {**values, **{key: fresh[key] for key in chosen if key in fresh}}


def _overridden(values: Mapping[str, Any], overrides: list[Override], sources: Sources) -> dict[str, Any]:
    """Apply overrides as Hydra does; stored texts are taken literally, they were resolved when the run was made."""
    config = OmegaConf.create(_literal(values))
    assert isinstance(config, DictConfig)
    OmegaConf.set_struct(config, True)  # noqa: FBT003 - the only way to say it
    with mapped(sources, lambda: values), serving(sources):
        ConfigLoaderImpl._apply_overrides_to_config(overrides, config)  # noqa: SLF001 - the grammar is Hydra's
        return plain_values(config, sources)


def _literal(value: Any) -> Any:
    """Escape what would start an interpolation."""
    if isinstance(value, str):
        return _OPENS.sub(lambda match: rf"{match[1] * 2}\${{", value)
    if isinstance(value, Mapping):
        return {key: _literal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_literal(item) for item in value]
    return value


def _settings(
    values: Mapping[str, Any], where: Path, parsed: Sequence[Override], sources: Sources
) -> Settings:
    try:
        return Settings.parse(values, where=str(where))
    except ConfigError as error:
        groups = sources.request.groups
        problems = (in_plain_words(one, Settings, values, groups) for one in error.problems)
        told = tuple(replace(one, where=_writer(one.key, parsed) or str(where)) for one in problems)
        raise ConfigError(error.message, problems=told) from None


def _writer(key: str, parsed: Sequence[Override]) -> str | None:
    """Give the override that set a key; null where the stored run says it."""
    lines = [
        one.input_line
        for one in parsed
        if covers(str(one.key_or_group), key) or covers(key, str(one.key_or_group))
    ]
    return f"command line: {lines[-1]}" if lines else None


def _choices(stored: Mapping[str, str | None], groups: Mapping[str, Override]) -> dict[str, str | None]:
    values = {group: one.value() for group, one in groups.items()}
    kept = {group: option for group, option in stored.items() if group not in values}
    return kept | {group: str(value) for group, value in values.items() if not isinstance(value, list)}
