"""The report as one HTML file that needs nothing else: no network, and without scripts still all the numbers."""

from __future__ import annotations

from skilleval.figures.theme import GREY, HAIRLINE, INK
from skilleval.report.charts import figures
from skilleval.report.columns import absences
from skilleval.report.document import Report
from skilleval.report.drawer import drawer_blocks
from skilleval.report.facts import STATE_SHAPES, origins, run_line
from skilleval.report.gate_table import gate_text_table
from skilleval.report.html_environment import charts, environment
from skilleval.report.html_view import page
from skilleval.report.text import json_text
from skilleval.report.uplift_tables import (
    assertion_table,
    case_table,
    judge_table,
    signal_counts,
    uplift_table,
)

_COLOURS = {INK: "var(--ink)", GREY: "var(--grey)", HAIRLINE: "var(--hairline)"}
_COMMAND = "command"  # which has a place of its own


def render(report: Report) -> str:
    """Write the page."""
    template = environment().get_template("report.html.j2")
    drawn = figures(report)
    view = page(report, drawn)
    return template.render(
        report=report,
        page=view,
        tasks=view.tasks,
        failures=view.failures,
        agreement=view.agreement,
        placed=view.figures,
        blocks=drawer_blocks(report),
        contents=tuple(view.contents(report)),
        facts=run_line(report.run),
        shape=STATE_SHAPES[report.verdict.state],
        absences=absences(report.columns, report.summary),
        origins=[(name, value) for name, value in origins(report) if name != _COMMAND],
        config=json_text(dict(report.provenance.config), indent=2) if report.provenance.config else "",
        gate=gate_text_table(report),
        uplift=uplift_table(report),
        uplift_cases=case_table(report),
        assertions=assertion_table(report),
        signals=signal_counts(report),
        judges=judge_table(report),
        colours=_COLOURS,
        charts=charts() if drawn else "",
    )
