"""The result table for a terminal: the verdict, a row a skill, and nothing that a skill could have coloured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skilleval.report.columns import interval_text, row_names, tally, value_text, words
from skilleval.report.document import MetricColumn, Report, Row, State
from skilleval.report.facts import STATE_SHAPES, run_line
from skilleval.report.flags import Kind, row_flags
from skilleval.report.numbers import DASH, THIN_SPACE, count
from skilleval.report.text import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
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

_HEADINGS = ("tasks ×{}repeats", "completion", "errors", "p50 /{}p95", "consistency", "composite")
_NARROW = 110
_NAME_WIDTH = 32
_NAME_WIDTH_IF_NARROW = 16


def table(report: Report, *, width: int = 80) -> RenderableType:
    """Give the verdict and the table of skills as something rich can print on a terminal of this width.

    Every text is a `Text`, which rich does not read as markup, with control characters spelled out.
    """
    from rich.console import Group
    from rich.text import Text

    shape = STATE_SHAPES[report.verdict.state]
    style = _STATE_STYLES[report.verdict.state]
    sentence = one_line(report.verdict.sentence)
    verdict = Text.assemble((f"{shape} {report.verdict.state.value.upper()}", style), " ", sentence)
    facts = Text(" · ".join(run_line(report.run)), style="dim")
    return Group(facts, verdict, _skills(report, width), *_remarks(report))


def _skills(report: Report, width: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    narrow = width < _NARROW
    gap = "\n" if narrow else " "
    names = row_names(report.summary)
    longest = max(map(len, names), default=0)
    drawn = Table(box=box.SIMPLE_HEAD, padding=0, collapse_padding=True, pad_edge=False)
    drawn.add_column(
        "skill", overflow="fold", width=min(longest, _NAME_WIDTH_IF_NARROW if narrow else _NAME_WIDTH) or None
    )
    for heading in _HEADINGS:
        drawn.add_column(heading.format(gap), justify="right", no_wrap=True)
    columns = {column.key: column for column in report.columns}
    for name, row in zip(names, report.summary, strict=True):
        drawn.add_row(Text(name), *(Text(text.replace("\t", gap)) for text in _cells(columns, row)))
    return drawn


def _remarks(report: Report) -> list[Text]:
    """Say under the table what must not be missed, a line a remark."""
    from rich.text import Text

    return [
        Text.assemble((f"{flag.shape} {name}", _FLAG_STYLES[flag.kind]), f": {flag.text}")
        for name, row in zip(row_names(report.summary), report.summary, strict=True)
        for flag in row_flags(row, report.threshold)
    ]


def _cells(columns: dict[str, MetricColumn], row: Row) -> list[str]:
    """Give the cells of a row; a tab stands where a narrow table breaks the line."""
    flaky = tally(row, "n_flaky_tasks")
    latency = [_value(columns, key, row).replace(THIN_SPACE, "") for key in ("p50_ms", "p95_ms")]
    return [
        f"{words(row, 'n_tasks') or DASH} × {words(row, 'n_repeats') or DASH}",
        "\t".join(
            part for part in (_value(columns, "completion_rate", row), _interval(columns, row)) if part
        ),
        _value(columns, "error_rate", row),
        " /\t".join(latency),
        _value(columns, "consistency", row) + (f"\t{count(flaky)} flaky" if flaky else ""),
        _value(columns, "composite", row),
    ]


def _value(columns: dict[str, MetricColumn], key: str, row: Row) -> str:
    return value_text(columns[key], row) if key in columns else DASH


def _interval(columns: dict[str, MetricColumn], row: Row) -> str:
    column = columns.get("completion_rate")
    return "" if column is None else interval_text(column, row)
