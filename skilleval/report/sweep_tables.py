"""The tables of a sweep as cells of text, for every format; foreign text in them is not escaped yet."""

from __future__ import annotations

from skilleval.report.diff_phrases import SHAPES, effect_interval, effect_text, value_text
from skilleval.report.numbers import (
    DASH,
    count,
    interval,
    p_text,
    points,
    rate,
    times,
)
from skilleval.report.sweep_document import PREFIX, SweepReport, Values, text_of
from skilleval.report.sweep_job_tables import jobs_table, lacking_table, results_table
from skilleval.report.sweep_phrases import margin_text, metric_label, percent
from skilleval.report.sweep_rank_tables import agreement_table, flips_table, ranks_tables
from skilleval.report.sweep_values import STYLES, value_interval
from skilleval.report.text_table import TextTable, text_table

_MAX_BARE = 20
_VERDICTS = {
    "improved": "better",
    "regressed": "worse",
    "equivalent": "no difference",
    "unchanged": "all alike",
}


def sweep_tables(report: SweepReport) -> tuple[TextTable, ...]:
    """Give all tables that have rows, in the order in which they are read."""
    found = (
        effects_table(report),
        levels_table(report),
        interactions_table(report),
        best_table(report),
        *ranks_tables(report),
        agreement_table(report),
        flips_table(report),
        lacking_table(report),
        jobs_table(report),
        results_table(report),
    )
    return tuple(table for table in found if table is not None)


def effects_table(report: SweepReport) -> TextTable | None:
    """Show what becomes of the metric from one level to another."""
    method = report.method
    tested = [row for row in report.effects if row["n_tasks"]]
    n_bare = len(report.effects) - len(tested)
    note = (
        f"{metric_label(method.metric).capitalize()}, paired over the tasks of both levels, in the cells of the other "
        f"settings that both have. p is adjusted for all {len(tested)} comparisons (Holm); within "
        f"±{margin_text(method)} there is no difference; intervals at {rate(method.level)}."
    )
    if n_bare > _MAX_BARE:
        note += f" {n_bare} pairs of levels without a task in common are not listed."
    header = (
        "setting",
        "from → to",
        "from",
        "to",
        "change",
        "interval",
        "adjusted p",
        "tasks",
        "cells",
        "verdict",
    )
    return text_table(
        "effects",
        title="What each setting does",
        note=note,
        header=header,
        rows=[_effect_cells(row) for row in (tested if n_bare > _MAX_BARE else report.effects)],
        texts={0, 1, 9},
    )


def _effect_cells(row: Values) -> tuple[str, ...]:
    name = str(row["metric"])
    has = bool(row["n_tasks"])
    change = str(row["change"]) if has else ""
    verdict = (
        f"{SHAPES.get(change, '○')} {_VERDICTS.get(change, 'undecided')}" if has else "○ no task in common"
    )
    most = max(row["n_cells_before"], row["n_cells_after"])
    return (
        str(row["setting"]),
        f"{row['level_before']} → {row['level_after']}",
        value_text(name, row["before"]) if has else DASH,
        value_text(name, row["after"]) if has else DASH,
        effect_text(row) if has else DASH,
        (effect_interval(row) or DASH) if has else DASH,
        p_text(row["p_holm"]).removeprefix("p ").removeprefix("= ") or DASH,
        count(row["n_tasks"] or 0),
        f"{row['n_cells']} of {most}",
        verdict,
    )


def levels_table(report: SweepReport) -> TextTable | None:
    """Show the mean at each level."""
    name = report.method.metric
    rows = [
        (
            str(row["setting"]),
            str(row["level"]),
            value_text(name, row["mean"]),
            value_interval(name, row),
            count(row["n_tasks"]),
            count(row["n_cells"]),
            "" if row["is_matched"] else "its own cells only: not comparable",
        )
        for row in report.levels
    ]
    return text_table(
        "levels",
        title="Mean at each level",
        note=f"Mean {metric_label(name)} over tasks, each the mean of the cells that all levels of the setting have.",
        header=("setting", "level", "mean", "interval", "tasks", "cells", "remark"),
        rows=rows,
        texts={0, 1, 6},
    )


def interactions_table(report: SweepReport) -> TextTable | None:
    """Show whether the effect of one setting depends on another one."""
    is_ratio = report.method.kind == "ratio"
    rows = [
        (
            f"{row['setting_a']}: {row['a_before']} → {row['a_after']}",
            f"{row['setting_b']}: {row['b_before']} → {row['b_after']}",
            _difference(row["effect"], is_ratio=is_ratio),
            _ends(row, is_ratio=is_ratio),
            p_text(row["p_holm"]).removeprefix("p ").removeprefix("= ") or DASH,
            count(row["n_tasks"]),
            count(row["n_cells"]),
            "✓ depends" if row["is_shown"] else "○ not shown",
        )
        for row in report.interactions
    ]
    note = (
        "How much the change of the first setting differs between two levels of the second one (difference of "
        "differences), paired over tasks; p is adjusted for all that were looked at (Holm)."
    )
    header = ("the change of", "from one level to the other of", "differs by", "interval", "adjusted p")
    return text_table(
        "interactions",
        title="Does one setting depend on another?",
        note=note,
        header=(*header, "tasks", "cells", "verdict"),
        rows=rows,
        texts={0, 1, 7},
    )


def _difference(value: float | None, *, is_ratio: bool) -> str:
    if value is None:
        return DASH
    return times(_ratio(value)) if is_ratio else f"{points(value)} pp"


def _ratio(log: float) -> float:
    from math import exp

    return exp(max(min(log, 690.0), -690.0))  # beyond it no float holds the ratio


def _ends(row: Values, *, is_ratio: bool) -> str:
    if row["low"] is None or row["high"] is None:
        return DASH
    ends = [
        times(_ratio(row[end])).removeprefix("×") if is_ratio else points(row[end]) for end in ("low", "high")
    ]
    return f"[{', '.join(ends)}]"


def best_table(report: SweepReport) -> TextTable | None:
    """Rank the combinations of settings that are a choice."""
    name, method = report.method.metric, report.method
    names = [
        key.removeprefix(PREFIX) for key in (report.best[0] if report.best else {}) if key.startswith(PREFIX)
    ]
    rows = [
        (
            *(text_of(row[PREFIX + one]) for one in names),
            value_text(name, row["mean"]),
            DASH if row["p_best"] is None else percent(row["p_best"]),
            _ranks(row),
            _behind(row, name),
            _standing(row),
        )
        for row in report.best
    ]
    n_tasks = report.best[0]["n_tasks"] if report.best else 0
    note = (
        f"Over {count(n_tasks)} tasks that all combinations have, averaged over how they were measured. The chance to "
        f"be best and the places are those of {count(method.resamples)} resamples of the tasks (seed {method.seed}); "
        "“less the best” is of these too."
    )
    return text_table(
        "best",
        title="Best settings",
        note=note,
        header=(*names, metric_label(name), "chance to be best", "places", "less the best", "verdict"),
        rows=rows,
        texts={*range(len(names)), len(names) + 4},
    )


def _ranks(row: Values) -> str:
    if row["rank_low"] is None:
        return DASH
    low, high = (f"{row[end]:g}" for end in ("rank_low", "rank_high"))
    return low if low == high else f"{low}-{high}"


def _behind(row: Values, name: str) -> str:
    low, high = row["behind_low"], row["behind_high"]
    if low is None or row["is_best"]:
        return DASH
    low, high = min(low, high), max(low, high)
    if name in STYLES:
        return interval(low, high, STYLES[name])
    return f"[{points(low)}, {points(high)}] pp"


def _standing(row: Values) -> str:
    if row["is_best"]:
        return "★ best here"
    if row["in_best_set"] is None:
        return "○ not tested"
    return "≈ not told from it" if row["in_best_set"] else "✕ worse"
