"""Lets the tests find the scripts of the study, behind everything else on the path."""

from __future__ import annotations

import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.extend(str(BENCHMARKS / name) for name in ("scale", "perf"))
