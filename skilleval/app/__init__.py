"""The composition root: settings become objects, objects become files. The only user of the registries."""

from __future__ import annotations

from skilleval.app.evaluate import Outcome, evaluate
from skilleval.app.prepare import Prepared, prepare

__all__ = ["Outcome", "Prepared", "evaluate", "prepare"]
