"""The public functions, for notebooks and programs; `import skilleval` offers them, and loads them when used."""

from __future__ import annotations

from skilleval.app.notebook import Comparison, compare, evaluate, select, summary
from skilleval.app.runs import Run, open_run, scan_runs
from skilleval.errors import SkillevalError

__all__ = [
    "Comparison",
    "Run",
    "SkillevalError",
    "compare",
    "evaluate",
    "open_run",
    "scan_runs",
    "select",
    "summary",
]
