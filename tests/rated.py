"""What raters say of attempts, as a frame: a row a trial, a value a rater, null where nobody said anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("run_id", "trial_id", "condition_id", "skill_id", "task_id"), pl.String()),
    "repeat": pl.Int64(),
    "rater": pl.String(),
    "passed": pl.Boolean(),
    "score": pl.Float64(),
}


def rated(said: Mapping[str, Sequence[float | bool | None]], *, tasks: Sequence[str] = ()) -> pl.LazyFrame:
    """Give one trial a place of these columns; a verdict is its own score, and a score of 0.5 passes."""
    rows = [
        {
            "run_id": "r",
            "trial_id": f"t{at}",
            "condition_id": "c",
            "skill_id": "s",
            "task_id": tasks[at] if tasks else f"t{at}",
            "repeat": 0,
            "rater": rater,
            "passed": None if value is None else value >= 0.5,
            "score": None if value is None else float(value),
        }
        for rater, values in said.items()
        for at, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema=SCHEMA).lazy()
