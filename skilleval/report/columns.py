"""The metrics a report shows, in their order, and the cell of a metric as text."""

from __future__ import annotations

from collections.abc import Sequence

from skilleval.figures.labels import row_labels
from skilleval.report.document import MetricColumn, Row
from skilleval.report.names import short_names
from skilleval.report.numbers import DASH, Style, count, interval, shown

_SAME = 1e-9
_NO_INTERVAL = "no method could give one"
_WAYS = 3
_NO_LATENCY = "none was measured; those of reused attempts count with analysis.reused_latency only"

TRIALS_OF = ("benchmark_id", "benchmark_version", "condition_id")
"""What rows share that judge the same trials, each by its own scorer."""

COMPLETION = MetricColumn(
    key="completion_rate",
    label="completion",
    unit="share",
    style=Style.RATE,
    doc="trials that passed, of those that completed, timed out or failed by the skill's fault; "
    "ungraded trials and infrastructure errors stay out and are counted beside it",
    absent="no trial was graded",
    low="ci_low",
    high="ci_high",
)
MACRO = MetricColumn(
    key="completion_rate_macro",
    label="completion, mean of tasks",
    unit="share",
    style=Style.RATE,
    doc="mean over the tasks of each task's completion rate; differs from completion where repeats are missing",
    absent="no trial was graded",
)

_ALWAYS = (
    COMPLETION,
    MetricColumn(
        key="partial_score",
        label="partial score",
        unit="share",
        style=Style.RATE,
        doc="credit for what was right in part, averaged as the benchmark says",
        absent="no trial was scored, or too few repeats for the k of pass@k",
        low="partial_score_ci_low",
        high="partial_score_ci_high",
    ),
    MetricColumn(
        key="error_rate",
        label="errors",
        unit="share",
        style=Style.RATE,
        doc="trials that did not complete, of all trials",
        absent="there was no trial",
        of="n_trials",
    ),
    MetricColumn(
        key="consistency",
        label="consistency",
        unit="share",
        style=Style.RATE,
        doc="1 less the standard deviation of the completion rates of the repeats; flaky tasks both passed and "
        "failed",
        absent="needs at least two repeats",
    ),
    MetricColumn(
        key="p50_ms",
        label="p50",
        unit="time",
        style=Style.DURATION,
        doc="median latency of the skill (nearest rank); a timeout counts with its limit",
        absent=_NO_LATENCY,
        low="p50_ms_ci_low",
        high="p50_ms_ci_high",
    ),
    MetricColumn(
        key="p95_ms",
        label="p95",
        unit="time",
        style=Style.DURATION,
        doc="latency that 95 % of the trials keep (nearest rank); a timeout counts with its limit",
        absent=_NO_LATENCY,
        low="p95_ms_ci_low",
        high="p95_ms_ci_high",
    ),
)
_WHERE_KNOWN = (
    MetricColumn(
        key="spawn_p50_ms",
        label="spawn p50",
        unit="time",
        style=Style.DURATION,
        doc="median time to start a process (nearest rank), which is no part of the latency",
        absent="no process was started",
    ),
    MetricColumn(
        key="total_tokens",
        label="tokens",
        unit="tokens",
        style=Style.COUNT,
        doc="tokens of all tries, as the skill reported them",
        absent="the skill reported no tokens",
    ),
    MetricColumn(
        key="cost_usd",
        label="cost",
        unit="USD",
        style=Style.MONEY,
        doc="what this run spent, as reported or by the price table; attempts of earlier runs cost it nothing",
        absent="no price is known",
    ),
)
_REUSED_COST = MetricColumn(
    key="reused_cost_usd",
    label="cost of reused",
    unit="USD",
    style=Style.MONEY,
    doc="what the attempts of earlier runs had cost there",
    absent="no price is known",
)
_JUDGE_ERRORS = MetricColumn(
    key="n_judge_errors",
    label="judge errors",
    unit="trials",
    style=Style.COUNT,
    doc="trials with a check that the judge could not judge; the check is ungraded, so that no rate counts it",
    absent="no judge was asked",
)
_COMPOSITE = MetricColumn(
    key="composite",
    label="composite",
    unit="score",
    style=Style.RATE,
    doc="weighted blend of completion, partial score, speed and reliability; weights are in the config",
    absent="one of its parts is not known",
)


def metric_columns(rows: Sequence[Row]) -> tuple[MetricColumn, ...]:
    """Choose the columns: start times, tokens and cost where a row knows one, both means where they differ."""
    known = [column for column in _WHERE_KNOWN if any(row.get(column.key) is not None for row in rows)]
    known += [
        column for column in (_REUSED_COST, _JUDGE_ERRORS) if any(number(row, column.key) for row in rows)
    ]
    first, *rest = _ALWAYS
    macro = [MACRO] if any(differs(row, MACRO.key) for row in rows) else []
    return (first, *macro, *rest, *known, _COMPOSITE)


def row_names(rows: Sequence[Row]) -> list[str]:
    """Name the rows, each by a short line that is safe to look at."""
    return short_names(row_labels(rows), rows)


def number(row: Row, key: str) -> float | None:
    """Give a metric of a row as a number; null where it is not known."""
    value = row.get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def words(row: Row, key: str) -> str:
    """Give a text of a row, empty where there is none."""
    value = row.get(key)
    return "" if value is None else str(value)


def tally(row: Row, key: str) -> int:
    """Give a count of a row; a count that is not known counts nothing."""
    return int(number(row, key) or 0)


def value_text(column: MetricColumn, row: Row) -> str:
    """Write the value of a metric, a dash where it is not known; a share with a whole is a count, `3/60`."""
    value = number(row, column.key)
    whole = number(row, column.of) if column.of else None
    if value is not None and whole:
        return f"{count(round(value * whole))}/{count(whole)}"
    return shown(value, column.style)


def interval_text(column: MetricColumn, row: Row) -> str:
    """Write the interval of a metric, empty where the metric has none at all.

    That completion has none is a dash, because verdicts rest on it; of other metrics the methods say why.
    """
    if column.low is None or column.high is None or value_text(column, row) == DASH:
        return ""
    text = interval(number(row, column.low), number(row, column.high), column.style)
    return "" if text == DASH and column.key != COMPLETION.key else text


def interval_methods(column: MetricColumn, rows: Sequence[Row]) -> list[str]:
    """Say how the intervals of a metric were made, or why there are none: each way once, `_WAYS` at most."""
    if column.low is None:
        return []
    told = f"{column.low.removesuffix('low')}method"
    is_said = column.key == COMPLETION.key  # a table says why completion has no interval
    found = [row for row in rows if not (is_said and row.get(column.low) is None)]
    ways = [way for way in dict.fromkeys(words(row, told) for row in found) if way]
    more = [f"{len(ways) - _WAYS} more, which differ in their numbers only"] if len(ways) > _WAYS else []
    return ways[:_WAYS] + more


def interval_metrics() -> tuple[str, ...]:
    """Name the metrics whose intervals a report shows beside that of completion."""
    return tuple(column.key for column in _ALWAYS if column.low and column.key != COMPLETION.key)


def absences(columns: Sequence[MetricColumn], rows: Sequence[Row]) -> list[str]:
    """Say why there are dashes, one sentence a column that has any."""
    notes = [
        f"{column.label}: {column.absent}"
        for column in columns
        if any(value_text(column, row) == DASH for row in rows)
    ]
    lacking = [row for row in rows for column in columns if interval_text(column, row) == DASH]
    reasons = dict.fromkeys(words(row, "ci_method") or _NO_INTERVAL for row in lacking)
    return notes + [f"interval: {reason.removeprefix('no interval: ')}" for reason in reasons]


def differs(row: Row, key: str) -> bool:
    """Say whether a metric of a row is known and is not the completion rate."""
    completion, other = number(row, COMPLETION.key), number(row, key)
    return completion is not None and other is not None and abs(completion - other) > _SAME
