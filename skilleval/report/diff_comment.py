"""A comparison as a short comment for a pull request: the verdict, what broke, a line a skill."""

from __future__ import annotations

from collections.abc import Iterator

from skilleval.report.comparison import headline, verdict_line
from skilleval.report.diff_document import Diff, DiffRow
from skilleval.report.diff_tables import flip_cells, left_over, metric_table
from skilleval.report.markdown_text import escape
from skilleval.report.numbers import DASH, counted, points, rate

_MAX_SKILLS = 20
_MAX_BROKEN = 10
_MAX_LINES = 5
_COMPLETION = "completion_rate"


def render(diff: Diff) -> str:
    """Write the comment as GitHub-flavoured Markdown."""
    parts = [
        f"### {escape(verdict_line(diff.change, diff.change.upper()))}",
        escape(diff.sentence),
        _lines([f"▲ {warning}" for warning in diff.warnings]),
        _lines(list(_broken(diff)), _MAX_BROKEN),
        _skills(diff),
        _lines(left_over(diff.rows)),
        _origin(diff),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _lines(texts: list[str], most: int = _MAX_LINES) -> str:
    left = len(texts) - most
    more = [f"- {left} more"] if left > 0 else []
    return "\n".join([*(f"- {escape(text)}" for text in texts[:most]), *more])


def _broken(diff: Diff) -> Iterator[str]:
    """Name what broke, with its counts, over all skills."""
    for row in diff.rows:
        for flip in row.broken:
            name, _, before, after, why = flip_cells(flip)
            yield f"✕ {row.name}: {name} passed {before} → {after}{': ' if why else ''}{why}"


def _skills(diff: Diff) -> str:
    rows = [row for row in diff.rows if row.side == "both"]
    if not rows:
        return ""
    header = ["skill", diff.baseline.label, diff.candidate.label, "change", "interval", "p (Holm)", "verdict"]
    lines = [[escape(name) for name in header], [":---", *["---:"] * 5, ":---"]]
    lines += [_skill(diff, row) for row in rows[:_MAX_SKILLS]]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    left = len(rows) - _MAX_SKILLS
    return f"{table}\n\n{counted(left, 'further row')}" if left > 0 else table


def _skill(diff: Diff, row: DiffRow) -> list[str]:
    """Give the line of a skill: its completion, in the very words of the table of metrics."""
    cells = [DASH] * 5
    for metric, told in zip(row.metrics, metric_table(diff, row).rows, strict=False):
        if metric["metric"] == _COMPLETION:
            cells = [told[1], told[2], told[3], told[4], told[6]]
    return [escape(text) for text in (row.name, *cells, verdict_line(row.change, row.change))]


def _origin(diff: Diff) -> str:
    told = [headline(diff), f"margin {points(diff.margin).lstrip('+')} pp", f"level {rate(diff.level)}"]
    ids = f"runs {diff.baseline.run_id} and {diff.candidate.run_id}"
    return f"<sub>{' · '.join(escape(text) for text in (*told, ids))}</sub>"
