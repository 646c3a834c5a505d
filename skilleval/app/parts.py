"""Settings become parts: the registries are read here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.adapters import ADAPTERS
from skilleval.adapters.base import Adapter
from skilleval.adapters.replay import ReplayAdapter
from skilleval.chat.base import Asked
from skilleval.config.settings import PartSettings, Texts
from skilleval.domain.skills import Skill
from skilleval.registry import part
from skilleval.sandboxes import SANDBOXES
from skilleval.sandboxes.base import Sandbox
from skilleval.sandboxes.docker import DockerSandbox
from skilleval.sandboxes.requirements import check_guarantees
from skilleval.scorers import SCORERS, build_scorer
from skilleval.scorers.base import Scorer
from skilleval.scorers.evals import EvalsScorer
from skilleval.scorers.llm_judge import NO_JUDGES, Judges
from skilleval.scorers.task import TaskScorer
from skilleval.strict import StrictModel

AUTO = "auto"
_TASK = "task"
_EVALS = "evals"
_CONFIG = "config"
_REQUIRE = "require"


def build_sandbox(settings: PartSettings, hidden: Sequence[Path] = ()) -> Sandbox:
    """Make the sandbox that `sandbox.kind` names; programs in it see nothing of `hidden`.

    Raises:
        SkillevalError: its options cannot be used, or it does not enforce what `sandbox.require` asks for.
    """
    kind = part(SANDBOXES, settings.kind, key="sandbox.kind", group="sandboxes")
    options = {key: value for key, value in settings.options.items() if key != _REQUIRE}
    required = _Required.parse(
        {_REQUIRE: settings.options.get(_REQUIRE, ())}, where=_CONFIG, prefix="sandbox"
    )
    sandbox: Sandbox = kind(kind.Options.parse(options, where=_CONFIG, prefix="sandbox"), hidden)
    check_guarantees(required.require, sandbox)
    return sandbox


def sandbox_facts(sandbox: Sandbox) -> dict[str, Any]:
    """Give what a sandbox says of where programs run, such as digests of an image; empty for this machine itself."""
    return dict(getattr(sandbox, "facts", {}))


def get_images_ready(skills: Sequence[Skill], sandbox: Sandbox, *, builds: bool) -> list[str]:
    """Have the images built that skills bring; or else name the skills that still need that.

    Raises:
        SkillevalError: the image of a skill cannot be built, or programs could not read its folder.
    """
    if not isinstance(sandbox, DockerSandbox):
        return []
    if not builds:
        return [skill.id for skill in skills if sandbox.foresee(skill.folder)]
    for skill in skills:
        sandbox.prepare(skill.folder)
    return []


class _Required(StrictModel):
    """What every sandbox may be asked for, whatever its own options are."""

    require: Texts


def adapter_kind(settings: PartSettings, skill: Skill) -> str:
    """Say how a skill is driven: as the config says, else as its own manifest does."""
    return skill.adapter if settings.kind == AUTO else settings.kind


def adapter_options(settings: PartSettings, kind: str) -> Mapping[str, Any]:
    """Give the options of one adapter: under `auto` each kind has a block of its own."""
    options: Mapping[str, Any] = settings.options.get(kind, {}) if settings.kind == AUTO else settings.options
    return {key: value for key, value in options.items() if key != "kind"}


def build_adapters(
    settings: PartSettings,
    skills: Sequence[Skill],
    sandbox: Sandbox,
    *,
    worker_trials: int | None = None,
    model: Asked | None = None,
) -> dict[str, Adapter]:
    """Make one adapter a kind that the skills need; with `worker_trials`, one program serves so many trials.

    One that asks a model says `needs_model` and is given it.

    Raises:
        SkillevalError: an option cannot be used.
    """
    prefix = "adapter.{}" if settings.kind == AUTO else "adapter"
    made: dict[str, Adapter] = {}
    for name in sorted({adapter_kind(settings, skill) for skill in skills}):
        kind = part(ADAPTERS, name, key="adapter.kind", group="adapters")
        options = kind.Options.parse(
            adapter_options(settings, name), where=_CONFIG, prefix=prefix.format(name)
        )
        needs_model = getattr(kind, "needs_model", False)
        made[name] = (
            kind(options, model)
            if needs_model
            else _replayed(options) or _adapter(kind, options, sandbox, worker_trials)
        )
    return made


def _adapter(kind: Any, options: object, sandbox: Sandbox, worker_trials: int | None) -> Adapter:
    """Make an adapter; only those that start programs can be told how many trials one serves."""
    has_choice = worker_trials is not None and hasattr(kind, "isolation")
    adapter: Adapter = (
        kind(options, sandbox, worker_trials=worker_trials) if has_choice else kind(options, sandbox)
    )
    return adapter


def _replayed(options: object) -> Adapter | None:
    """Give the adapter that replays a stored run, where that is what the options name."""
    if not isinstance(options, ReplayAdapter.Options) or not Path(options.path).is_dir():
        return None
    from skilleval.app.recordings import replay_run

    return replay_run(Path(options.path))


@dataclass(frozen=True, slots=True)
class _Around:
    """What scorers are given beside their options."""

    sandbox: Sandbox
    judges: Judges


def build_scorers(
    settings: Mapping[str, PartSettings], sandbox: Sandbox, judges: Judges = NO_JUDGES
) -> dict[str, Scorer]:
    """Make every named scorer of a run; those that run programs do so in a sandbox, those that ask are given judges.

    Their programs are of this machine, so where skills run in an image scorers run in its companion.
    """
    around = _Around(sandbox.companion if isinstance(sandbox, DockerSandbox) else sandbox, judges)
    return {name: _scorer(one.kind, one.options, f"scorers.{name}", around) for name, one in settings.items()}


def _scorer(name: str, options: Mapping[str, Any], prefix: str, around: _Around) -> Scorer:
    if name == _TASK:
        return _task_scorer(options, prefix, around)
    if name == _EVALS:
        return EvalsScorer(**_blocks(options, prefix, around))
    kind = part(SCORERS, name, key=f"{prefix}.kind", group="scorers")
    parsed = kind.Options.parse(options, where=_CONFIG, prefix=prefix)
    return build_scorer(kind, parsed, around.sandbox, around.judges)


def _task_scorer(options: Mapping[str, Any], prefix: str, around: _Around) -> TaskScorer:
    fallback = str(options["fallback"])
    part(SCORERS, fallback, key=f"{prefix}.fallback", group="scorers")
    blocks = {name: block for name, block in options.items() if name != "fallback"}
    return TaskScorer(fallback=fallback, scorers=_blocks(blocks, prefix, around))


def _blocks(blocks: Mapping[str, Any], prefix: str, around: _Around) -> dict[str, Scorer]:
    return {name: _scorer(name, _bare(block), f"{prefix}.{name}", around) for name, block in blocks.items()}


def _bare(block: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "kind"}
