"""A comparison as CSV: one row a skill × scorer × metric, then one a task or check that flipped; `record` says which.

Cells are those of the report's CSV: safe to open in a spreadsheet, null is an empty cell, numbers keep all digits.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from skilleval.report.csv_writer import cell
from skilleval.report.diff_document import Diff, DiffRow

_PLACE = (
    *("record", "baseline_run_id", "candidate_run_id", "baseline_label", "candidate_label"),
    *("skill_id", "name", "mode", "scorer", "benchmark_id", "side", "verdict"),
)
_METRIC = (
    *("metric", "kind", "unit", "better", "n_tasks", "before", "after", "effect", "low", "high", "ci_method"),
    *("p_value", "p_method", "p_holm", "p_bh", "n_better", "n_same", "n_worse", "equivalence_p", "margin"),
    *("detectable", "n_more", "cohens_h", "gain", "mcnemar_exact", "mcnemar_mid_p", "odds_ratio"),
    *("flip_rate_before", "flip_rate_after", "is_unequal", "change", "is_confirmed"),
)
_FLIP = (
    *("task_id", "check_id", "check", "flip", "n_passed_before", "n_graded_before"),
    *("n_passed_after", "n_graded_after", "why"),
)


def render(diff: Diff) -> str:
    """Write all rows; a header even where there is none."""
    columns = (*_PLACE, *_METRIC, *_FLIP)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(columns)
    for record in _records(diff):
        writer.writerow([cell(record.get(name)) for name in columns])
    return out.getvalue()


def _records(diff: Diff) -> Iterator[Mapping[str, Any]]:
    for row in diff.rows:
        place = _place(diff, row)
        yield from ({**metric, **place, "record": "metric"} for metric in row.metrics)
        yield from (_beside(beside) | place | {"record": "metric"} for beside in row.beside)
        if not (row.metrics or row.beside):
            yield {**place, "record": "skill"}
    for row in diff.rows:
        yield from ({**flip, **_place(diff, row), "record": "flip"} for flip in row.flips)


def _place(diff: Diff, row: DiffRow) -> dict[str, Any]:
    runs = {"baseline_run_id": diff.baseline.run_id, "candidate_run_id": diff.candidate.run_id}
    texts = {key: getattr(row, key) for key in ("skill_id", "name", "mode", "scorer", "benchmark_id", "side")}
    labels = {"baseline_label": diff.baseline.label, "candidate_label": diff.candidate.label}
    return {**runs, **labels, **texts, "verdict": row.change}


def _beside(beside: Mapping[str, Any]) -> dict[str, Any]:
    """Give a metric that is not tested in the columns of one that is."""
    named = {"kind": "difference", "effect": beside["delta"], "change": beside["outcome"]}
    return {**{name: beside[name] for name in ("metric", "better", "before", "after")}, **named}
