"""A comparison as one HTML file that needs nothing else: no network, and without scripts still all the numbers."""

from __future__ import annotations

from skilleval.report.comparison import headline, verdict_line
from skilleval.report.diff_document import Diff
from skilleval.report.diff_phrases import SHAPES
from skilleval.report.diff_tables import left_over, statistics_lines, tables
from skilleval.report.html_environment import environment
from skilleval.report.numbers import points

_STATES = {"regressed": "failed", "improved": "passed", "equivalent": "passed", "unchanged": "passed"}


def render(diff: Diff) -> str:
    """Write the page: the verdict, then what flipped, then the tables."""
    rows = [row for row in diff.rows if row.side == "both"]
    template = environment().get_template("diff.html.j2")
    return template.render(
        diff=diff,
        title=headline(diff),
        state=_STATES.get(diff.change, "inconclusive"),
        verdict=verdict_line(diff.change, diff.sentence),
        rows=[
            (
                row,
                verdict_line(row.change, row.sentence),
                list(tables(diff, row)),
                list(statistics_lines(row)),
            )
            for row in rows
        ],
        shapes=SHAPES,
        left_over=left_over(diff.rows),
        margin=points(diff.margin).lstrip("+"),
    )
