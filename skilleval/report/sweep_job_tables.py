"""The tables of a sweep about its jobs: which have no result and why, what each cost, and every result."""

from __future__ import annotations

from skilleval.report.diff_phrases import value_text
from skilleval.report.numbers import DASH, count, duration, interval, money, rate
from skilleval.report.sweep_document import PREFIX, SweepReport, Values, text_of
from skilleval.report.sweep_phrases import metric_label
from skilleval.report.text import joined_lines
from skilleval.report.text_table import TextTable, text_table

_LACKING = (
    "Their cells are missing in all comparisons. “skilleval sweep resume” runs them, and only them; "
    "refused ones come to the same end."
)
_SUMMED = ("n_trials", "n_reused", "cost_usd", "tokens", "duration_ms")


def lacking_table(report: SweepReport) -> TextTable | None:
    """List the jobs without a result that counts, and why."""
    rows = [
        (
            str(job["job"]),
            *_settings(job, report),
            str(job["state"]),
            _plain(job["exit_code"]),
            joined_lines(str(job["reason"] or DASH)),
        )
        for job in report.jobs
        if not job["counts"]
    ]
    return text_table(
        "lacking",
        title="Jobs without a result that counts",
        note=_LACKING,
        header=("job", *report.varied, "state", "exit code", "reason"),
        rows=rows,
        texts={*range(1, 2 + len(report.varied)), 3 + len(report.varied)},
    )


def jobs_table(report: SweepReport) -> TextTable | None:
    """List what became of each job, and what it took; the last row holds all of them."""
    rows = [
        (
            str(job["job"]),
            *_settings(job, report),
            str(job["state"]),
            _plain(job["n_trials"]),
            _plain(job["n_reused"]),
            value_text(report.method.metric, job["mean"]),
            money(job["cost_usd"]),
            count(job["tokens"]),
            duration(job["duration_ms"]),
            joined_lines(str(job["reason"] or job["verdict"] or DASH)),
        )
        for job in report.jobs
    ]
    total = ("all", *("" for _ in report.varied), "", *_totals(report), "")
    label = metric_label(report.method.metric)
    header = ("state", "trials", "reused", label, "USD", "tokens", "time", "reason or verdict")
    return text_table(
        "jobs",
        title="Jobs, and what they cost",
        note="Money and tokens of attempts that were made for the job; those that it took over cost nothing again.",
        header=("job", *report.varied, *header),
        rows=[*rows, total] if rows else [],
        texts={*range(1, 2 + len(report.varied)), 8 + len(report.varied)},
    )


def _totals(report: SweepReport) -> tuple[str, ...]:
    sums = {name: [job[name] for job in report.jobs if job[name] is not None] for name in _SUMMED}
    total = {name: sum(values) if values else None for name, values in sums.items()}
    return (
        count(total["n_trials"]),
        count(total["n_reused"]),
        "",
        money(total["cost_usd"]),
        count(total["tokens"]),
        duration(total["duration_ms"]),
    )


def _settings(row: Values, report: SweepReport) -> tuple[str, ...]:
    return tuple(text_of(row.get(PREFIX + name)) for name in report.varied)


def _plain(value: int | None) -> str:
    return DASH if value is None else count(value)


def results_table(report: SweepReport) -> TextTable | None:
    """Show every result: one row a job × condition × scorer."""
    rows = [
        (
            str(row["job"]),
            *_settings(row, report),
            str(row["skill_id"]),
            str(row["scorer"] or DASH),
            rate(row["completion_rate"]),
            interval(row["ci_low"], row["ci_high"]),
            f"{count(row['n_passed'])}/{count(row['n_graded'])}",
            duration(row["p50_ms"]),
            money(row["cost_usd"]),
        )
        for row in report.results
    ]
    n = len(report.varied)
    return text_table(
        "results",
        title="Every result",
        note="",
        header=(
            "job",
            *report.varied,
            "skill",
            "scored by",
            "completion",
            "interval",
            "passed",
            "p50",
            "USD",
        ),
        rows=rows,
        texts=set(range(1, n + 3)),
    )
