"""From a request to frozen settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hydra import compose
from hydra.conf import HydraConf
from omegaconf import DictConfig, OmegaConf

from skilleval.config.compose.messages import FOREIGN, located, mapped
from skilleval.config.compose.overrides import group_choices, refuse_split
from skilleval.config.compose.placement import check_placement
from skilleval.config.compose.session import Sources, loader_of, read_sources
from skilleval.config.request import Request
from skilleval.config.settings import PARTS, SCORERS, Settings
from skilleval.config.trees import at, covers, is_open, leaves, siblings
from skilleval.config.wording import completing, in_plain_words
from skilleval.errors import ConfigError, Problem
from skilleval.strict import nearest

_HINTS = {
    "skill_set.paths": "name skills with --skills PATH, or choose skill_set=examples",
    "benchmark.name": "name one with --benchmark ID or --benchmark FILE",
    "adapter.path": "name the recorded attempts with adapter.path=FILE",
    "scorers.labels.path": "name the file of labels with scorers.labels.path=FILE",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepJob:
    """The place of a run in a sweep.

    `key` names the job whatever its number; `swept` are the overrides that make it this job. `n_jobs` is null where
    nobody knows yet how many there are going to be.
    """

    sweep_id: str
    sweep_dir: Path
    job_num: int
    key: str = ""
    swept: tuple[str, ...] = ()
    n_jobs: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A composed config: the settings, the same as plain values, and what led to them.

    `choices` holds the option chosen in each group; a group given as a list is absent.
    """

    settings: Settings
    values: Mapping[str, Any]
    overrides: tuple[str, ...]
    choices: Mapping[str, str | None]
    sweep: SweepJob | None = None


def compose_settings(  # noqa: PLR0913 - keywords: each place where settings are looked for has its own name
    overrides: Sequence[str],
    *,
    project: Path,
    config_name: str = "eval",
    config_file: Path | None = None,
    config_dirs: Sequence[Path] = (),
    user_file: Path | None = None,
) -> Composed:
    """Compose the settings of one run.

    `config_file` replaces the project's `skilleval.yaml`, `user_file` the one in the user's configuration folder.

    Raises:
        ConfigError: names each unknown, missing or wrong setting and the file or override it comes from.
    """
    request = Request(
        project=project,
        overrides=tuple(overrides),
        config_name=config_name,
        config_file=config_file,
        config_dirs=tuple(config_dirs),
        user_file=user_file,
    )
    return compose_sources(read_sources(request))


def compose_sources(sources: Sources) -> Composed:
    """Compose the settings of one run from sources that were read before."""
    config = compose_config(sources)
    return build_composed(config, choices_of(config.hydra), sources)


def compose_config(sources: Sources) -> DictConfig:
    """Let Hydra compose; the result still holds its own node `hydra`."""
    request = sources.request
    refuse_split(request.overrides)
    with mapped(sources, lambda: known_values(sources)), loader_of(sources):
        return compose(request.config_name, overrides=list(request.overrides), return_hydra_config=True)


def known_values(sources: Sources) -> Mapping[str, Any]:
    """Give what the chosen options alone say: every key that may be overridden.

    Where even these cannot be composed, those of the files alone stand in, else those chosen by default.
    """
    bare = sources.choices_only()
    chosen = tuple(group_choices(sources.request.overrides))
    for overrides, layers in ((chosen, bare.layers), ((), bare.layers), ((), bare.emptied().layers)):
        request = replace(sources.request, overrides=overrides)
        try:
            with loader_of(replace(bare, request=request, layers=layers)):
                config = compose(request.config_name, overrides=list(overrides))
        except FOREIGN:
            continue
        values = OmegaConf.to_container(config)
        return {str(key): value for key, value in values.items()} if isinstance(values, dict) else {}
    return {}


def choices_of(node: HydraConf) -> dict[str, str | None]:
    """Give the option chosen in each group as Hydra's node holds it, its own groups left out."""
    choices = OmegaConf.to_container(node.runtime.choices)
    assert isinstance(choices, dict)
    return {
        str(group): option for group, option in choices.items() if str(group).partition("/")[0] != "hydra"
    }


def build_composed(
    config: DictConfig,
    choices: Mapping[str, str | None],
    sources: Sources,
    *,
    sweep: SweepJob | None = None,
) -> Composed:
    """Validate a composed config.

    Raises:
        ConfigError: a setting is missing, unknown or wrong.
    """
    check_placement(sources)
    overrides = sources.request.overrides
    bare = without_hydra(config)
    _refuse_missing(bare, sources)
    values = plain_values(bare, sources)
    settings = _settings(values, sources)
    _refuse_unknown_options(values, sources)
    return Composed(settings=settings, values=values, overrides=overrides, choices=choices, sweep=sweep)


def check_draft(sources: Sources, accept: Callable[[Mapping[str, Any]], None] | None = None) -> None:
    """Validate what is set so far; what is still missing is no mistake yet. `accept` has the last word.

    Raises:
        ConfigError: a setting is unknown or wrong.
        SkillevalError: as `accept` raises.
    """
    bare = without_hydra(compose_config(sources))
    check_placement(sources)
    values = plain_values(bare, sources)
    missing = _missing(bare, sources)
    try:
        _settings(values, sources)
    except ConfigError as error:
        problems = tuple(one for one in error.problems if one.key not in missing)
        if problems:
            raise ConfigError("the settings cannot be used", problems=problems) from None
    _refuse_unknown_options(values, sources)
    try:
        if accept is not None:
            accept(values)
    except ConfigError as error:
        raise located(error, sources) from None


def without_hydra(config: DictConfig) -> DictConfig:
    """Give the config without Hydra's own node."""
    return OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])


def plain_values(config: DictConfig, sources: Sources) -> dict[str, Any]:
    """Give the config as plain values, references resolved; a missing value stays `???`."""
    with _resolving(sources):
        values = OmegaConf.to_container(config, resolve=True)
    assert isinstance(values, dict)
    return {str(key): value for key, value in values.items()}


@contextmanager
def _resolving(sources: Sources) -> Iterator[None]:
    """Say where a reference that leads nowhere stands."""
    try:
        with mapped(sources, lambda: known_values(sources)):
            yield
    except ConfigError as error:
        raise located(error, sources) from None


def _missing(config: DictConfig, sources: Sources) -> list[str]:
    with _resolving(sources):
        return sorted(OmegaConf.missing_keys(config))


def _refuse_missing(config: DictConfig, sources: Sources) -> None:
    missing = _missing(config, sources)
    if not missing:
        return
    problems = tuple(
        Problem(where="config", key=key, expected="a value", hint=_HINTS.get(key, f"give {key}=VALUE"))
        for key in missing
    )
    count = "1 setting is" if len(missing) == 1 else f"{len(missing)} settings are"
    raise located(ConfigError(f"{count} missing", problems=problems), sources)


def _settings(values: Mapping[str, Any], sources: Sources) -> Settings:
    try:
        return Settings.parse(values, where="config")
    except ConfigError as error:
        groups = sources.request.groups
        problems = tuple(in_plain_words(one, Settings, values, groups) for one in error.problems)
        hint = completing(error.problems, groups)
        raise located(ConfigError(error.message, problems=problems, hint=hint), sources) from None


def _refuse_unknown_options(values: Mapping[str, Any], sources: Sources) -> None:
    """Refuse options that the chosen part does not have, with the file that sets them.

    The models of the parts would refuse them too, but later and without knowing where they come from. A kind that
    no option in `conf/` has is left to its own model.
    """
    if not _may_add_options(sources):
        return
    known = known_values(sources)
    problems = tuple(
        Problem(where="config", key=key, expected="a known key", found=found, hint=nearest(found, names))
        for path in _parts(values)
        if at(known, f"{path}.kind") == at(values, f"{path}.kind")
        for key in _unknown_leaves(path, values, known)
        for found, names in [siblings(known, key)]
    )
    if problems:
        raise located(ConfigError("there is no such option of this part", problems=problems), sources)


def _may_add_options(sources: Sources) -> bool:
    """Say whether anything could have added a key: composing anew costs time, and most runs add none."""
    said = [key for layer in sources.layers for key in layer.values if key in PARTS]
    return bool(said) or any(text.startswith("+") or "{" in text for text in sources.request.overrides)


def _parts(values: Mapping[str, Any]) -> list[str]:
    return [*(name for name in PARTS if name != SCORERS), *(f"{SCORERS}.{name}" for name in values[SCORERS])]


def _unknown_leaves(path: str, values: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    theirs = [key for key, _ in leaves(at(known, path), path)]
    ours = [key for key, _ in leaves(at(values, path), path)]
    return [
        key
        for key in ours
        if not any(covers(one, key) or covers(key, one) for one in theirs) and not is_open(known, key)
    ]
