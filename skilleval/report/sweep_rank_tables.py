"""The tables of a sweep about the order of its skills: places, how alike the orders are, and who changes places."""

from __future__ import annotations

from collections.abc import Iterator

from skilleval.report.diff_phrases import value_text
from skilleval.report.numbers import DASH, count, points
from skilleval.report.sweep_document import SweepReport, Values
from skilleval.report.sweep_values import STYLES, value_interval
from skilleval.report.text_table import TextTable, text_table


def ranks_tables(report: SweepReport) -> Iterator[TextTable]:
    """Show the place of each skill at each level, a table a setting; none of one skill."""
    for setting in dict.fromkeys(str(row["setting"]) for row in report.ranks):
        rows = [row for row in report.ranks if row["setting"] == setting]
        levels = list(dict.fromkeys(str(row["level"]) for row in rows))
        cells = {(row["skill_id"], row["level"]): row for row in rows}
        skills = list(dict.fromkeys(str(row["skill_id"]) for row in rows))
        table = text_table(
            f"ranks-{report.varied.index(setting) if setting in report.varied else 0}",
            title=f"Order of the skills by {setting}",
            note="The place of each skill (skills that are level share one), and its mean over tasks.",
            header=("skill", *levels),
            rows=[
                (skill, *(_place(cells.get((skill, level)), report) for level in levels)) for skill in skills
            ],
            texts={0},
        )
        if len(skills) > 1 and table is not None:
            yield table


def _place(row: Values | None, report: SweepReport) -> str:
    return DASH if row is None else f"{row['rank']:g} ({value_text(report.method.metric, row['value'])})"


def agreement_table(report: SweepReport) -> TextTable | None:
    """Show how alike the orders at two levels are."""
    rows = [
        (
            str(row["setting"]),
            str(row["level_a"]),
            str(row["level_b"]),
            count(row["n_skills"]),
            DASH if row["kendall_tau"] is None else f"{row['kendall_tau']:.2f}",
            str(row["tau_reason"] or ""),
        )
        for row in report.agreement
        if row["n_skills"] > 1
    ]
    return text_table(
        "agreement",
        title="How alike the orders are",
        note="Kendall's τ-b of the order of the skills at two levels: 1 is the same order, 0 no relation, −1 reversed.",
        header=("setting", "level", "other level", "skills", "τ-b", "why there is none"),
        rows=rows,
        texts={0, 1, 2, 5},
    )


def flips_table(report: SweepReport) -> TextTable | None:
    """List the skills that change places, and on which tasks."""
    name = report.method.metric
    rows = [
        (
            f"{row['setting']}: {row['level_a']} → {row['level_b']}",
            f"{row['skill_ahead_a']} ahead by {_amount(name, row['lead_a'])}",
            f"{row['skill_ahead_b']} ahead by {_amount(name, row['lead_b'])}",
            _swing(name, row),
            count(row["n_tasks"]),
            "✓ beyond chance" if row["is_shown"] else "○ may be chance",
            ", ".join(row["tasks"]),
        )
        for row in report.flips
    ]
    return text_table(
        "flips",
        title="Skills that change places",
        note="The tasks that add most to it come first. p is adjusted for all pairs that change places (Holm).",
        header=(
            "between",
            "at the first",
            "at the second",
            "change with interval",
            "tasks",
            "verdict",
            "tasks that make it so",
        ),
        rows=rows,
        texts={0, 1, 2, 5, 6},
    )


def _amount(name: str, value: float) -> str:
    return value_text(name, value) if name in STYLES else f"{points(value).lstrip('+')} pp"


def _swing(name: str, row: Values) -> str:
    ends = "" if row["low"] is None else f" {value_interval(name, row)}"
    if name not in STYLES and row["low"] is not None:
        ends = f" [{points(row['low'])}, {points(row['high'])}]"
    return f"{_amount(name, row['effect'])}{ends}"
