"""Settings become parts: the registries are read here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skilleval.adapters import ADAPTERS
from skilleval.adapters.base import Adapter
from skilleval.adapters.replay import ReplayAdapter
from skilleval.config.settings import PartSettings, Texts
from skilleval.domain import Skill
from skilleval.registry import kinds, part
from skilleval.sandboxes import SANDBOXES
from skilleval.sandboxes.base import Sandbox
from skilleval.sandboxes.docker import DockerSandbox
from skilleval.sandboxes.requirements import check_guarantees
from skilleval.scorers import SCORERS, build_scorer
from skilleval.scorers.base import Scorer
from skilleval.scorers.task import TaskScorer
from skilleval.strict import StrictModel

AUTO = "auto"
_TASK = "task"
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
    settings: PartSettings, skills: Sequence[Skill], sandbox: Sandbox, *, worker_trials: int | None = None
) -> dict[str, Adapter]:
    """Make one adapter a kind that the skills need; with `worker_trials`, one program serves so many trials.

    Raises:
        SkillevalError: an option cannot be used, or the image of a skill cannot be built.
    """
    if isinstance(sandbox, DockerSandbox):
        for skill in skills:
            sandbox.prepare(skill.folder)
    prefix = "adapter.{}" if settings.kind == AUTO else "adapter"
    made: dict[str, Adapter] = {}
    for name in sorted({adapter_kind(settings, skill) for skill in skills}):
        kind = part(ADAPTERS, name, key="adapter.kind", group="adapters")
        options = kind.Options.parse(
            adapter_options(settings, name), where=_CONFIG, prefix=prefix.format(name)
        )
        made[name] = _replayed(options) or _adapter(kind, options, sandbox, worker_trials)
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


def known_adapters() -> list[str]:
    """Give the kinds of adapters there are."""
    return kinds(ADAPTERS, group="adapters")


def build_scorers(settings: Mapping[str, PartSettings], sandbox: Sandbox) -> dict[str, Scorer]:
    """Make every named scorer of a run; those that run programs do so in a sandbox.

    Their programs are of this machine, so where skills run in an image scorers run in its companion.
    """
    own = sandbox.companion if isinstance(sandbox, DockerSandbox) else sandbox
    return {name: _scorer(one.kind, one.options, f"scorers.{name}", own) for name, one in settings.items()}


def _scorer(name: str, options: Mapping[str, Any], prefix: str, sandbox: Sandbox) -> Scorer:
    if name == _TASK:
        return _task_scorer(options, prefix, sandbox)
    kind = part(SCORERS, name, key=f"{prefix}.kind", group="scorers")
    return build_scorer(kind, kind.Options.parse(options, where=_CONFIG, prefix=prefix), sandbox)


def _task_scorer(options: Mapping[str, Any], prefix: str, sandbox: Sandbox) -> TaskScorer:
    fallback = str(options["fallback"])
    part(SCORERS, fallback, key=f"{prefix}.fallback", group="scorers")
    blocks = {name: block for name, block in options.items() if name != "fallback"}
    scorers = {
        name: _scorer(name, _bare(block), f"{prefix}.{name}", sandbox) for name, block in blocks.items()
    }
    return TaskScorer(fallback=fallback, scorers=scorers)


def _bare(block: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "kind"}
