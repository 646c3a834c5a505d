"""The tables of a paper, a group of runs each; their cells are written by what writes those of the report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skilleval.report.agreement_tables import document_tables
from skilleval.report.breakdown import by_tag
from skilleval.report.columns import (
    COMPLETION,
    differs,
    interval_methods,
    interval_text,
    row_names,
    value_text,
    words,
)
from skilleval.report.document import MetricColumn, Report, Row
from skilleval.report.latex_table import floating
from skilleval.report.numbers import DASH, Style, count, p_text, rate, signed, signed_interval
from skilleval.report.paper.document import Compared, Group, Paper
from skilleval.report.tables import heading, tag_table
from skilleval.report.text_table import TextTable, text_table
from skilleval.report.uplift_tables import case_table, uplift_table

MARK = "†"
_QUALITY = ("completion_rate", "partial_score", "consistency", "composite")
_NO_SLUG = re.compile(r"[^a-z0-9]+")
_SLUG_LENGTH = 40
_BESIDE = 4


@dataclass(frozen=True, slots=True)
class Placed:
    """A table and the name of its file without suffix, which its label shares."""

    stem: str
    table: TextTable


def tables(paper: Paper) -> tuple[Placed, ...]:
    """Give all tables of a paper in reading order; those of several benchmarks begin with the name of theirs."""
    prefixes = slugs([group.name for group in paper.groups]) if len(paper.groups) > 1 else [""]
    found = []
    for prefix, group in zip(prefixes, paper.groups, strict=True):
        for table in _of_group(group):
            stem = f"{prefix}-{table.name}" if prefix else table.name
            title = f"{table.title}: {group.name}" if prefix else table.title
            found.append(Placed(stem, replace(table, title=title)))
    return tuple(found)


def slugs(names: Sequence[str]) -> list[str]:
    """Name files after texts: lower-case letters, digits and hyphens, and never the same one twice."""
    found: list[str] = []
    for name in names:
        base = _NO_SLUG.sub("-", name.lower()).strip("-")[:_SLUG_LENGTH].strip("-") or "benchmark"
        slug, n = base, 1
        while slug in found:
            n += 1
            slug = f"{base}-{n}"
        found.append(slug)
    return found


def table_files(paper: Paper) -> dict[str, str]:
    """Write each table as a file of its own."""
    return {f"tables/{one.stem}.tex": floating(one.table, label=one.stem) for one in tables(paper)}


def _of_group(group: Group) -> list[TextTable]:
    report = group.report
    found = (
        quality_table(group),
        cost_table(report),
        uplift_table(report),
        case_table(report),
        *document_tables(report.agreement),
        slice_table(report),
    )
    return [table for table in found if table is not None]


def quality_table(group: Group) -> TextTable | None:
    """Give a row a condition × scorer: how good its answers are, and how it stands to the one it is held against."""
    report = group.report
    columns = [one for one in report.columns if one.key in _QUALITY and _says_something(one, report.summary)]
    versus = {(one.condition_id, one.scorer): one for one in group.compared}
    beside = ("Δ completion", "adjusted p") if versus else ()
    header = ("skill", "tasks × repeats", "graded", *map(heading, columns), *beside)
    rows = []
    for name, row in zip(row_names(report.summary), report.summary, strict=True):
        other = versus.get((words(row, "condition_id"), words(row, "scorer")))
        cells = [
            _cell(column, row, marked=column == COMPLETION and bool(other and other.is_shown))
            for column in columns
        ]
        shown = (name, f"{_whole(row, 'n_tasks')} × {_whole(row, 'n_repeats')}", _whole(row, "n_graded"))
        rows.append(
            (*shown, *cells, *(_versus(other, is_reference=_is_reference(group, row)) if versus else ()))
        )
    note = " ".join((*_interval_note(columns, report.summary), *_versus_note(group)))
    return text_table("skills", title="Completion by skill", note=note, header=header, rows=rows, texts={0})


def _says_something(column: MetricColumn, rows: Sequence[Row]) -> bool:
    """Leave out what nobody has, and partial credit that is completion itself."""
    if column.key == "partial_score" and not any(differs(row, column.key) for row in rows):
        return False
    return any(row.get(column.key) is not None for row in rows) or column == COMPLETION


def _cell(column: MetricColumn, row: Row, *, marked: bool) -> str:
    mark = f" {MARK}" if marked else ""
    return f"{value_text(column, row)}{mark} {interval_text(column, row)}".strip()


def _whole(row: Row, key: str) -> str:
    value = row.get(key)
    return count(value) if isinstance(value, int) else DASH


def _is_reference(group: Group, row: Row) -> bool:
    return group.references.get(words(row, "scorer")) == words(row, "condition_id")


def _versus(one: Compared | None, *, is_reference: bool) -> tuple[str, str]:
    if one is None:
        return ("reference" if is_reference else DASH, DASH)
    ends = signed_interval(one.low, one.high)
    effect = signed(one.effect, Style.RATE)
    p = p_text(one.p_holm).removeprefix("p ").removeprefix("= ") or DASH
    return (effect if ends == DASH else f"{effect} {ends}", p)


def _interval_note(columns: Sequence[MetricColumn], rows: Sequence[Row]) -> list[str]:
    ways = [
        f"{column.label}: {'; '.join(interval_methods(column, rows))}" for column in columns if column.low
    ]
    known = [way for way in ways if not way.endswith(": ")]
    return [f"Intervals in brackets ({'. '.join(known)})."] if known else []


def _versus_note(group: Group) -> list[str]:
    """Say by which test rows are marked, how many were compared, and whether the reference was chosen by the rows."""
    if not group.compared:
        return []
    ways = ", ".join(dict.fromkeys(one.p_method for one in group.compared if one.p_method))
    most = max(one.n_compared for one in group.compared)
    alpha = rate(1 - group.formulas.level)
    chosen = " The reference was chosen by these very data, which favours it." if group.is_chosen else ""
    told = (
        f"{MARK} differs from {group.against} (paired over tasks; {ways}; p adjusted after Holm for {count(most)} "
        f"comparisons is at most {alpha} and the interval of Δ, paired t, does not hold 0).{chosen}"
    )
    return [told]


def cost_table(report: Report) -> TextTable | None:
    """Give a row a condition × scorer: what its answers cost in time, tokens and money."""
    columns = [
        one
        for one in report.columns
        if one.key not in _QUALITY and any(row.get(one.key) is not None for row in report.summary)
    ]
    rows = [
        (name, *(_cell(column, row, marked=False) for column in columns))
        for name, row in zip(row_names(report.summary), report.summary, strict=True)
    ]
    if not columns:
        return None
    note = " ".join(_interval_note(columns, report.summary))
    header = ("skill", *map(heading, columns))
    return text_table(
        "costs", title="Errors, time and cost by skill", note=note, header=header, rows=rows, texts={0}
    )


def slice_table(report: Report) -> TextTable | None:
    """Give completion by tag; of more skills than fit beside each other a row each."""
    if len(report.summary) <= _BESIDE:
        return tag_table(report)
    names = row_names(report.summary)
    rows = [
        (tag.tag, count(tag.n_tasks), name, f"{cell.rate} {cell.interval}".strip(), cell.n or DASH)
        for tag in by_tag(report)
        for name, cell in zip(names, tag.cells, strict=True)
    ]
    return text_table(
        "tags",
        title="By tag",
        note="Completion of the tasks that have the tag, with its interval.",
        header=("tag", "tasks", "skill", "completion", "passed/graded"),
        rows=rows,
        texts={0, 2},
    )


def cells(one: Placed) -> Mapping[str, object]:
    """Give a table as JSON."""
    table = one.table
    return {
        "file": f"tables/{one.stem}.tex",
        "header": list(table.header),
        "rows": [list(row) for row in table.rows],
    }
