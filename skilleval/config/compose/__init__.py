"""The only door to Hydra and OmegaConf: behind it there are frozen settings and plain values."""

from __future__ import annotations

from skilleval.config.compose.composing import Composed, SweepJob, compose_settings
from skilleval.config.compose.ledger import SEARCH, Grid, Ledger, Outcome, PlannedJob, SweepPlan, key_of
from skilleval.config.compose.overrides import quote
from skilleval.config.compose.stored import StoredConfig, compose_stored
from skilleval.config.compose.sweep import Again, run_hydra

__all__ = [
    "SEARCH",
    "Again",
    "Composed",
    "Grid",
    "Ledger",
    "Outcome",
    "PlannedJob",
    "StoredConfig",
    "SweepJob",
    "SweepPlan",
    "compose_settings",
    "compose_stored",
    "key_of",
    "quote",
    "run_hydra",
]
