"""The only door to Hydra and OmegaConf: behind it there are frozen settings and plain values."""

from __future__ import annotations

from skilleval.config.compose.composing import Composed, SweepJob, compose_settings
from skilleval.config.compose.overrides import quote
from skilleval.config.compose.stored import StoredConfig, compose_stored
from skilleval.config.compose.sweep import run_hydra

__all__ = [
    "Composed",
    "StoredConfig",
    "SweepJob",
    "compose_settings",
    "compose_stored",
    "quote",
    "run_hydra",
]
