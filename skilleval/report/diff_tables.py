"""The tables of a comparison, as cells of text for every format; foreign text in them is not escaped yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skilleval.report.diff_document import Diff, DiffRow, Values
from skilleval.report.diff_phrases import (
    LABELS,
    SHAPES,
    change_text,
    check_name,
    effect_interval,
    effect_text,
    value_text,
)
from skilleval.report.numbers import DASH, Style, count, p_text, rate, signed, times
from skilleval.report.text_table import TextTable

_WORSE = ("broken", "flaky, worse", "fixed", "flaky, better")


def tables(diff: Diff, row: DiffRow) -> Iterator[TextTable]:
    """Give the tables of a row: what flipped, what became of each metric, and what was left out."""
    if row.flips:
        yield flip_table(diff, row)
    if row.side == "both":
        yield metric_table(diff, row)
    if row.left_out:
        yield _left_out(row)


def flip_table(diff: Diff, row: DiffRow) -> TextTable:
    """Give a line a task or check that ended otherwise, the worst first."""
    ordered = sorted(row.flips, key=lambda flip: (_WORSE.index(flip["flip"]), flip["task_id"]))
    return TextTable(
        name="flips",
        title="Flips",
        note="Passed of graded trials. Broken: always passed, never does now; fixed: the reverse; flaky: in part.",
        header=("task / check", "flip", diff.baseline.label, diff.candidate.label, "why"),
        numeric=(False, False, True, True, False),
        rows=tuple(flip_cells(flip) for flip in ordered),
    )


def flip_cells(flip: Values) -> tuple[str, ...]:
    """Give what became of a task or check: its name, the kind of flip, passed of graded on both sides, and why."""
    name = flip["task_id"] if flip["check_id"] is None else check_name(flip)
    counts = [f"{flip[f'n_passed_{side}']}/{flip[f'n_graded_{side}']}" for side in ("before", "after")]
    return (name, flip["flip"], *counts, flip["why"] or "")


def metric_table(diff: Diff, row: DiffRow) -> TextTable:
    """Give a line a metric, the tested ones first; the better direction stands beside its name."""
    lines = [_tested(metric) for metric in row.metrics] + [_untested(beside) for beside in row.beside]
    return TextTable(
        name="metrics",
        title="Metrics",
        note="Over the tasks that both runs share. ↑ higher is better, ↓ lower is better. Differences are candidate − "
        "baseline, ratios candidate / baseline (geometric mean "
        "of the tasks). + / = / −: tasks that became better, stayed, became worse.",
        header=(
            *("metric", diff.baseline.label, diff.candidate.label, "change", "interval"),
            *("p", "Holm", "BH", "+ / = / −", "verdict"),
        ),
        numeric=(False, *([True] * 8), False),
        rows=tuple(lines),
    )


def _label(name: str, better: str) -> str:
    return f"{LABELS[name]} {'↑' if better == 'higher' else '↓'}"


def _tested(metric: Values) -> tuple[str, ...]:
    values = [value_text(metric["metric"], metric[side]) for side in ("before", "after")]
    chances = [_p(metric[name]) for name in ("p_value", "p_holm", "p_bh")]
    moved = " / ".join(count(metric[name]) for name in ("n_better", "n_same", "n_worse"))
    verdict = f"{SHAPES[metric['change']]} {metric['change']}"
    return (
        _label(metric["metric"], metric["better"]),
        *values,
        effect_text(metric),
        effect_interval(metric) or DASH,
        *chances,
        moved,
        verdict,
    )


def _p(value: float | None) -> str:
    return p_text(value).removeprefix("p ").removeprefix("= ") or DASH


def _untested(beside: Values) -> tuple[str, ...]:
    values = [value_text(beside["metric"], beside[side]) for side in ("before", "after")]
    label = _label(beside["metric"], beside["better"])
    return (label, *values, change_text(beside), *([DASH] * 5), beside["outcome"] or "not known")


def _left_out(row: DiffRow) -> TextTable:
    return TextTable(
        name="left-out",
        title="Not compared",
        note="Added and removed tasks are on one side only; changed ones had another input.",
        header=("why", "n", "tasks"),
        numeric=(False, True, False),
        rows=tuple((why, count(len(tasks)), ", ".join(tasks)) for why, tasks in row.left_out.items()),
    )


def statistics_lines(row: DiffRow) -> Iterator[str]:
    """Say what further figures there are of a row: effect size, McNemar's test, and what it could have found."""
    for metric in row.metrics:
        parts = list(_further(metric))
        if parts:
            yield f"{LABELS[metric['metric']]}: {', '.join(parts)}"


def _further(metric: Values) -> Iterator[str]:
    if metric["cohens_h"] is not None:
        yield f"Cohen's h {signed(metric['cohens_h'], Style.RATE)}"
    if metric["gain"] is not None:
        yield f"normalised gain {signed(metric['gain'], Style.RATE)}"
    if metric["mcnemar_exact"] is not None:
        exact, mid = _p(metric["mcnemar_exact"]), _p(metric["mcnemar_mid_p"])
        yield f"McNemar exact p {exact}, mid-p {mid}"
    if metric["equivalence_p"] is not None and metric["kind"] == "difference":
        yield f"equivalence p {_p(metric['equivalence_p'])}"
    if metric["detectable"] is not None:
        least = (
            f"{rate(100 * metric['detectable'])} pp"
            if metric["kind"] == "difference"
            else times(metric["detectable"])
        )
        yield f"could have found {least} (power 0.8)"
    if metric["n_more"] is not None:
        yield f"about {count(metric['n_more'])} more tasks would decide"


def left_over(rows: Sequence[DiffRow]) -> list[str]:
    """Name the rows that only one run has."""
    return [f"{row.side}: {row.name}" for row in rows if row.side != "both"]
