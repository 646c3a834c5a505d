"""A sweep as a notebook: every table and chart is worked out from the runs when a cell is executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skilleval.report.notebook.document import notebook_text
from skilleval.report.notebook.parameters import SWEEP, with_parameters
from skilleval.report.notebook.shipped import SWEEP_TEMPLATE, shipped_template
from skilleval.report.text import one_line

if TYPE_CHECKING:
    from skilleval.report.notebook.template import Template
    from skilleval.report.sweep_document import SweepReport


def render(report: SweepReport) -> str:
    """Write the notebook that lies in the folder of its sweep, not executed."""
    return render_with(report, shipped_template(SWEEP_TEMPLATE), folder=".")


def render_with(report: SweepReport, template: Template, *, folder: str) -> str:
    """Write a notebook by this template, not executed; `folder` is that of the sweep, as seen from the notebook."""
    about = {"template": template.name, "sweep_id": one_line(report.about.sweep_id)}
    values = {SWEEP: folder, "metric": report.method.metric}
    return notebook_text(with_parameters(template, values), about=about)
