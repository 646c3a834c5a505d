"""The public functions, for notebooks and programs; `import skilleval` offers them, and loads them when used."""

from __future__ import annotations

from skilleval.app.charts import chart
from skilleval.app.frames import agreement, outcomes, uplift, uplift_cases
from skilleval.app.notebook import Comparison, compare, evaluate, select, summary
from skilleval.app.runs import Run, open_run, scan_runs
from skilleval.app.sweep_report import SweepFrames, sweep_frame, sweep_frames
from skilleval.errors import SkillevalError

__all__ = [
    "Comparison",
    "Run",
    "SkillevalError",
    "SweepFrames",
    "agreement",
    "chart",
    "compare",
    "evaluate",
    "open_run",
    "outcomes",
    "scan_runs",
    "select",
    "summary",
    "sweep_frame",
    "sweep_frames",
    "uplift",
    "uplift_cases",
]
