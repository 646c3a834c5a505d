"""The result table for a terminal: the verdict, a row a skill, and nothing that a skill could have coloured.

Every line is laid out here and printed as it is: words and numbers stay whole, and lines end without blanks.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from skilleval.report.agreement_tables import agreement_tables, document_tables
from skilleval.report.causes import skill_causes
from skilleval.report.columns import differs, interval_text, row_names, tally, value_text, words
from skilleval.report.document import MetricColumn, Report, Row, State
from skilleval.report.facts import STATE_SHAPES, run_line
from skilleval.report.flags import Flag, Kind
from skilleval.report.gate_table import gate_text_table
from skilleval.report.numbers import DASH, THIN_SPACE, count
from skilleval.report.text import one_line
from skilleval.report.text_table import TextTable
from skilleval.report.uplift import FINDINGS, caveats_of_several, remarks
from skilleval.report.uplift_tables import judge_table, signal_counts, uplift_table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

_STATE_STYLES = {
    State.PASSED: "bold green",
    State.FAILED: "bold red",
    State.INCONCLUSIVE: "bold yellow",
    State.INFO: "bold",
}
_FLAG_STYLES = {
    Kind.FAILING: "red",
    Kind.FLAKY: "yellow",
    Kind.ERRORS: "magenta",
    Kind.UNKNOWN: "cyan",
}
_GAP = "  "
_INDENT = "  "
_MAX_CAUSES = 30

# A cell is its lines: they stand side by side in a wide table, below each other in a narrow one.
_Cell = tuple[str, ...]


def table(report: Report, *, width: int | None = None) -> RenderableType:
    """Give the verdict and the table of skills as something rich can print with `soft_wrap=True`.

    `width` is that of the terminal; without one, as in a file or a pipe, no line is broken. The table is the widest
    form that fits: a line a skill, two lines a skill, or a small block a skill. Every text is a `Text`, which rich
    does not read as markup, with control characters spelled out.
    """
    from rich.text import Text

    facts = [Text(line, style="dim") for line in _wrapped(" · ".join(run_line(report.run)), width)]
    head = [*facts, *_verdict(report, width)]
    rows = [Text(line) for line in _skills(report, width)]
    tail = [*_remarks(report, width), *_causes(report, width)]
    agreement = _tables(document_tables(report.agreement), width)
    gate = gate_text_table(report)
    gated = [] if gate is None else _tables([gate], width)
    # What the skills add comes first, as in the verdict; how each arm did alone is behind it.
    blocks = [_uplift(report, width), rows, gated, tail, agreement, _judging(report, width)]
    return _whole([*head, *(line for block in blocks if block for line in (Text(""), *block))])


def _whole(lines: Sequence[Text]) -> RenderableType:
    """Put lines together that nobody may break again."""
    from rich.console import Group

    for line in lines:
        line.no_wrap, line.overflow = True, "ignore"
    return Group(*lines)


def _wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    """Break a text between words; a word longer than the line stays whole."""
    if width is None:
        return [text]
    return textwrap.wrap(
        text, width, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent
    ) or [""]


def _verdict(report: Report, width: int | None) -> list[Text]:
    from rich.text import Text

    state = f"{STATE_SHAPES[report.verdict.state]} {report.verdict.state.value.upper()}"
    first, *rest = _wrapped(f"{state} {one_line(report.verdict.sentence)}", width)
    styled = Text(first)
    styled.stylize(_STATE_STYLES[report.verdict.state], 0, len(state))
    return [styled, *(Text(line) for line in rest)]


def _skills(report: Report, width: int | None) -> list[str]:
    if not report.summary:
        return []
    headings, rows = _table_cells(report)
    joined = [[(" ".join(cell),) for cell in row] for row in (headings, *rows)]
    for cells in (joined, [headings, *rows]):
        lines = _drawn(cells)
        if width is None or max(map(_cells_wide, lines)) <= width:
            return lines
    return _stacked(headings, rows, width)


def _table_cells(report: Report) -> tuple[list[_Cell], list[list[_Cell]]]:
    """Give the cells of the header and of each row."""
    columns = {column.key: column for column in report.columns}
    with_partial = any(differs(row, "partial_score") for row in report.summary)
    partial: list[_Cell] = [("partial", "score")] if with_partial else []
    headings: list[_Cell] = [
        ("skill",),
        ("tasks ×", "repeats"),
        ("completion",),
        *partial,
        ("errors",),
        ("p50 /", "p95"),
        ("consistency",),
        ("composite",),
    ]
    names = row_names(report.summary)
    rows = zip(names, report.summary, strict=True)
    return headings, [[(name,), *_cells(columns, row, with_partial=with_partial)] for name, row in rows]


def _cells(columns: dict[str, MetricColumn], row: Row, *, with_partial: bool) -> list[_Cell]:
    flaky = tally(row, "n_flaky_tasks")
    p50, p95 = (_value(columns, key, row).replace(THIN_SPACE, "") for key in ("p50_ms", "p95_ms"))
    ends = interval_text(columns["completion_rate"], row) if "completion_rate" in columns else ""
    partial: list[_Cell] = [(_value(columns, "partial_score", row),)] if with_partial else []
    return [
        (f"{words(row, 'n_tasks') or DASH} × {words(row, 'n_repeats') or DASH}",),
        (_value(columns, "completion_rate", row), *([ends] if ends else [])),
        *partial,
        (_value(columns, "error_rate", row),),
        (f"{p50} /", p95),
        (_value(columns, "consistency", row), *([f"{count(flaky)} flaky"] if flaky else [])),
        (_value(columns, "composite", row),),
    ]


def _value(columns: dict[str, MetricColumn], key: str, row: Row) -> str:
    return value_text(columns[key], row) if key in columns else DASH


def _drawn(cells: Sequence[Sequence[_Cell]]) -> list[str]:
    """Lay out a header and rows: the first column to the left, the others to the right."""
    widths = [
        max(_cells_wide(line) for cell in column for line in cell) for column in zip(*cells, strict=True)
    ]
    header, *rows = [_lines(row, widths) for row in cells]
    rule = "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))
    return [*header, rule, *(line for row in rows for line in row)]


def _lines(row: Sequence[_Cell], widths: Sequence[int]) -> list[str]:
    height = max(map(len, row))
    lines = []
    for index in range(height):
        texts = [cell[index] if index < len(cell) else "" for cell in row]
        blanks = [" " * (width - _cells_wide(text)) for text, width in zip(texts, widths, strict=True)]
        first = f"{texts[0]}{blanks[0]}"
        rest = [f"{blank}{text}" for blank, text in zip(blanks[1:], texts[1:], strict=True)]
        lines.append(_GAP.join([first, *rest]).rstrip())
    return lines


def _stacked(headings: Sequence[_Cell], rows: Sequence[Sequence[_Cell]], width: int | None) -> list[str]:
    """Give a small block a skill: its name, then a metric a line."""
    labels = [" ".join(heading) for heading in headings[1:]]
    longest = max(map(len, labels))
    lines = []
    for name, *cells in rows:
        lines += _wrapped(" ".join(name), width)
        lines += [
            f"{_INDENT}{label:{longest}}{_GAP}{' '.join(cell)}"
            for label, cell in zip(labels, cells, strict=True)
        ]
    return lines


def _remarks(report: Report, width: int | None) -> list[Text]:
    """Say under the table what must not be missed: each remark once, with the rows that it is about."""
    from rich.text import Text

    about: dict[Flag, list[str]] = {}
    for name, row in zip(row_names(report.summary), report.summary, strict=True):
        for flag in remarks(report, row):
            about.setdefault(flag, []).append(name)
    lines = []
    for flag, names in about.items():
        marked = f"{flag.shape} {', '.join(names)}"
        first, *rest = _wrapped(f"{marked}: {flag.text}", width, _INDENT)
        styled = Text(first)
        styled.stylize(_FLAG_STYLES[flag.kind], 0, min(len(marked), len(first)))
        lines += [styled, *(Text(line) for line in rest)]
    return lines


def _uplift(report: Report, width: int | None) -> list[Text]:
    """Say what the skills add, with the table of figures where it fits."""
    from rich.text import Text

    found = uplift_table(report)
    if found is None:
        return []
    cells = [[(one_line(text),) for text in row] for row in (found.header, *found.rows)]
    drawn = _drawn(cells)
    fits = width is None or max(map(_cells_wide, drawn)) <= width
    # A sentence has the figures of its row: it takes its place where the table is too wide.
    told = [f"{FINDINGS.get(one.finding, '')} {one_line(one.sentence)}" for one in report.uplift]
    lines = [
        f"{found.title}:",
        *(drawn if fits else (line for one in told for line in _wrapped(one, width, _INDENT))),
    ]
    for caveat in caveats_of_several(report.uplift):
        lines += _wrapped(f"▲ {one_line(caveat)}", width, _INDENT)
    signals = signal_counts(report)
    lines += _wrapped(f"assertions: {signals}", width, _INDENT) if signals else []
    return [Text(line) for line in lines]


def _judging(report: Report, width: int | None) -> list[Text]:
    """Say what judging took, a line a judge."""
    from rich.text import Text

    found = judge_table(report)
    if found is None:
        return []
    return [Text(line) for line in (f"{found.title}:", *_told(found, width))]


def agreement_view(report: Report, *, width: int | None = None) -> RenderableType:
    """Give all that there is to show of the scorers of a run; see `table`."""
    from rich.text import Text

    head = [Text(line, style="dim") for line in _wrapped(" · ".join(run_line(report.run)), width)]
    return _whole([*head, Text(""), *_tables(agreement_tables(report.agreement), width)])


def _tables(tables: Sequence[TextTable], width: int | None) -> list[Text]:
    """Draw tables below each other, each with its note; a row too wide for the terminal becomes a line of words."""
    from rich.text import Text

    lines: list[str] = []
    for found in tables:
        cells = [[(one_line(text),) for text in row] for row in (found.header, *found.rows)]
        drawn = _drawn(cells)
        fits = width is None or max(map(_cells_wide, drawn)) <= width
        lines += [] if not lines else [""]
        lines += [f"{found.title}:", *_wrapped(f"{_INDENT}{one_line(found.note)}", width, _INDENT)]
        lines += drawn if fits else _told(found, width)
    return [Text(line) for line in lines]


def _told(found: TextTable, width: int | None) -> list[str]:
    rows = [
        " · ".join(f"{name} {text}" for name, text in zip(found.header, row, strict=True))
        for row in found.rows
    ]
    return [line for row in rows for line in _wrapped(f"{_INDENT}{one_line(row)}", width, _INDENT * 2)]


def _causes(report: Report, width: int | None) -> list[Text]:
    """Say why trials did not pass, the commonest causes of each skill."""
    from rich.text import Text

    causes = skill_causes(report)
    shown = [str(cause) for cause in causes[:_MAX_CAUSES]]
    if len(causes) > len(shown):
        shown.append(f"and {count(len(causes) - len(shown))} more, in the report")
    told = [line for cause in shown for line in _wrapped(f"{_INDENT}{cause}", width, _INDENT * 2)]
    return [Text(line) for line in (["Why, per skill, most frequent first:", *told] if told else [])]


def _cells_wide(text: str) -> int:
    """Measure a text in columns of a terminal, where some characters take two."""
    from rich.cells import cell_len

    return cell_len(text)
