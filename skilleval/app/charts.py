"""The figures of stored runs, for notebooks and papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skilleval.app.analyse import analyse
from skilleval.app.runs import Run, open_run
from skilleval.report.charts import draw

if TYPE_CHECKING:
    from skilleval.report.charts import Drawn


def chart(
    runs: Run | str | Path | Sequence[Run | str | Path],
    name: str,
    *,
    store: str | Path = "outputs",
    paper: bool = False,
) -> Drawn:
    """Draw a figure of the report of one run, or of several together, as an Altair chart.

    `name` is one of `docs/figures.md`, e.g. `completion`. `paper` gives it the width and the type of one column of a
    paper (3.3 in).

    Raises:
        UsageError: there is no figure of that name, or no run is named.
        ResultsError: a run is not found or cannot be read, or it has nothing that the figure draws.
    """
    chosen = [runs] if isinstance(runs, Run | str | Path) else list(runs)
    found = [one if isinstance(one, Run) else open_run(one, store=store) for one in chosen]
    return draw(name, [analyse(run.folder) for run in found], paper=paper)
