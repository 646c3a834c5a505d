"""What an evaluating command asks for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of an evaluating command, with every option already turned into an override."""

    overrides: tuple[str, ...]
    config_dirs: tuple[Path, ...] = ()
    dry_run: bool = False
    multirun: bool = False
    cfg: str | None = None
    info: bool = False
    next_step: str | None = None
