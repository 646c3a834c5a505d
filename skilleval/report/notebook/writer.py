"""A report as a notebook: every table and chart is worked out from the tables of the run when a cell is executed.

The notebook holds none of the report's numbers and none of its text; only its metadata say what it is about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skilleval.report.columns import words
from skilleval.report.notebook.document import notebook_text
from skilleval.report.notebook.parameters import RUN, with_parameters
from skilleval.report.notebook.shipped import fitting_template, shipped_template
from skilleval.report.text import one_line

if TYPE_CHECKING:
    from skilleval.report.document import Report
    from skilleval.report.notebook.template import Template


def render(report: Report) -> str:
    """Write the notebook that lies beside the tables of its run, not executed."""
    return render_with(report, shipped_template(fitting_template(report)), folder=".")


def render_with(report: Report, template: Template, *, folder: str) -> str:
    """Write a notebook by this template, not executed; `folder` is that of the run, as seen from the notebook."""
    return notebook_text(with_parameters(template, {RUN: folder}), about=_about(report, template))


def _about(report: Report, template: Template) -> dict[str, Any]:
    return {
        "template": template.name,
        "run_id": one_line(report.run.run_id),
        "verdict": one_line(report.verdict.sentence, limit=1000),
        "skills": list(dict.fromkeys(one_line(words(row, "skill_id")) for row in report.summary)),
    }
