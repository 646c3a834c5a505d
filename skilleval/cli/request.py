"""What an evaluating command asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from skilleval.cli.watching import LogOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of an evaluating command, with every option already turned into an override.

    `plan_only` shows the plan instead of running it, as `plan_format` says. `resume` names a stored run to go on with,
    `root` the folder in which it is looked up. `log` says how it is watched.
    """

    overrides: tuple[str, ...]
    config_dirs: tuple[Path, ...] = ()
    dry_run: bool = False
    plan_only: bool = False
    plan_format: str | None = None
    multirun: bool = False
    cfg: str | None = None
    info: bool = False
    next_step: str | None = None
    resume: str | None = None
    root: Path = Path("outputs")
    log: LogOptions = field(default_factory=LogOptions)
