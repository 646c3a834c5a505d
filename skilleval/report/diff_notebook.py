"""A comparison as a notebook: every table and chart is worked out from the tables of both runs when a cell is executed.

It takes both folders, named by the ids of the runs, to lie beside it.
"""

from __future__ import annotations

from skilleval.report.diff_document import Diff
from skilleval.report.notebook.document import notebook_text
from skilleval.report.notebook.parameters import BASELINE, CANDIDATE, with_parameters
from skilleval.report.notebook.shipped import COMPARE, shipped_template
from skilleval.report.text import one_line


def render(diff: Diff) -> str:
    """Write the notebook, not executed."""
    ids = [one_line(run.run_id) for run in (diff.baseline, diff.candidate)]
    places = dict(zip((BASELINE, CANDIDATE), ids, strict=True))
    about = {"template": COMPARE, "run_ids": ids}
    return notebook_text(with_parameters(shipped_template(COMPARE), places), about=about)
