"""The rows of the table of skills on the HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skilleval.figures.theme import skill_colours
from skilleval.report.columns import interval_text, number, row_names, value_text, words
from skilleval.report.document import MetricColumn, Report, Row
from skilleval.report.flags import Flag, Kind
from skilleval.report.numbers import DASH
from skilleval.report.text import one_line
from skilleval.report.uplift import remarks

_CONDITION = ("adapter", "model", "sandbox", "mode")
_SEARCHED = ("skill_id", "skill_version", "scorer", *_CONDITION)


@dataclass(frozen=True, slots=True)
class MetricCell:
    """One metric of one row; `sort_by` is empty where the value is not known, `absent` says why it is not."""

    column: MetricColumn
    text: str
    interval: str
    sort_by: str
    absent: str


@dataclass(frozen=True, slots=True)
class SkillRow:
    """One row of the table of skills.

    `whole` is the id of the skill where the name shows a part of it alone, else empty;
    `low`, `rate` and `high` place its drawn interval; `told` is the place of its failed trials, empty without;
    `searched` holds what a reader may filter by.
    """

    name: str
    whole: str
    details: tuple[str, ...]
    searched: str
    n_tasks: str
    n_repeats: str
    colour: str
    low: float | None
    rate: float | None
    high: float | None
    flags: tuple[Flag, ...]
    cells: tuple[MetricCell, ...]
    told: str

    @property
    def kind(self) -> Kind:
        """The gravest remark on the row."""
        return self.flags[0].kind if self.flags else Kind.FINE


def skill_rows(report: Report, told: Mapping[tuple[str, str], str]) -> tuple[SkillRow, ...]:
    """Give a row a condition × scorer; `told` names the place of the failed trials of each."""
    details = _details(report.summary)
    colours = skill_colours(_skill_id(row) for row in report.summary)
    return tuple(
        SkillRow(
            name=name,
            whole="" if _skill_id(row) in name else _skill_id(row),
            details=details[i],
            searched=" ".join(words(row, key) for key in _SEARCHED),
            n_tasks=words(row, "n_tasks") or DASH,
            n_repeats=words(row, "n_repeats") or DASH,
            colour=colours[_skill_id(row)],
            low=_share(row, "ci_low"),
            rate=_share(row, "completion_rate"),
            high=_share(row, "ci_high"),
            flags=remarks(report, row),
            cells=tuple(_metric(column, row) for column in report.columns),
            told=told.get((words(row, "condition_id"), words(row, "scorer")), ""),
        )
        for i, (name, row) in enumerate(zip(row_names(report.summary), report.summary, strict=True))
    )


def _skill_id(row: Row) -> str:
    """Give the id as the figures know it, for the same colour."""
    return one_line(words(row, "skill_id"))


def _details(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Give the version of each skill, and how it was driven where the rows differ in that."""
    # The mode stands in the name already, where rows differ in it.
    telling = [key for key in _CONDITION if key != "mode" and len({row.get(key) for row in rows}) > 1]
    found = []
    for row in rows:
        shown = [(key, words(row, key)) for key in telling if words(row, key)]
        condition = [f"{key} {value}" for key, value in shown]
        found.append(tuple(part for part in (words(row, "skill_version"), *condition) if part))
    return found


def _share(row: Row, key: str) -> float | None:
    value = number(row, key)
    return None if value is None else min(max(float(value), 0.0), 1.0)


def _metric(column: MetricColumn, row: Row) -> MetricCell:
    value = number(row, column.key)
    return MetricCell(
        column=column,
        text=value_text(column, row),
        interval=interval_text(column, row),
        sort_by="" if value is None else repr(value),
        absent=column.absent if value is None else "",
    )
