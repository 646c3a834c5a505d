"""`skilleval slices`: any metric by tag, family, model, mode or a field of the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options
from skilleval.cli.listing import show_rows

if TYPE_CHECKING:
    from skilleval.app.slicing import Sliced

_EXAMPLE = """
skilleval slices latest --by tag
skilleval slices latest --by family --metric completion_rate p95_ms
skilleval slices RUN RUN --by manifest:config.runner.seed
"""


@click.command("slices", cls=Command, example=_EXAMPLE, short_help="Show metrics by tag, model or setting.")
@click.argument(
    "references", nargs=-1, required=True, metavar="RUN...", shell_complete=completion.stored_runs
)
@click.option(
    "--by",
    cls=Many,
    required=True,
    metavar="WHAT...",
    help="tag, family, domain, skill, version, content, model, mode, adapter, sandbox, run, task, benchmark, or "
    "manifest:KEY, e.g. manifest:config.runner.seed.",
)
@click.option(
    "--metric",
    "metrics",
    cls=Many,
    metavar="NAME...",
    help="Metrics of the summary (completion_rate).",
)
@click.option(
    "--store",
    type=click.Path(),
    metavar="DIR",
    default="outputs",
    show_default=True,
    help="Where run ids and `latest` are looked up.",
)
@common_options
def slices(
    common: Common, *, references: tuple[str, ...], by: tuple[str, ...], metrics: tuple[str, ...], store: str
) -> None:
    """Show any metric of the summary for the tasks or runs that have something in common.

    A row is a slice of one skill as it was driven, by one scorer: conditions never mix. A task with several tags counts
    under each of them. Several --by give each combination.
    """
    from skilleval.app.slicing import slice_runs

    found = slice_runs(references, by=by, metrics=metrics or ("completion_rate",), store=Path(store))
    common.screen.document(found.facts())
    headings = [*found.keys, *found.metrics, "tasks", "graded"]
    show_rows(common.screen, headings, [_cells(row, found) for row in found.rows.iter_rows(named=True)])
    for line in _remarks(found):
        common.screen.say(line)


def _cells(row: Mapping[str, Any], found: Sliced) -> list[str]:
    from skilleval.report.metric_text import metric_text

    keys = ["–" if row[name] is None else str(row[name]) for name in found.keys]
    values = [metric_text(name, row) for name in found.metrics]
    return [*keys, *values, str(row["n_tasks"]), str(row["n_graded"])]


def _remarks(found: Sliced) -> list[str]:
    """Say what the table does not show."""
    lines = []
    if found.left_out:
        what = "trial is" if found.left_out == 1 else "trials are"
        lines.append(f"{found.left_out} {what} in no slice: {' or '.join(found.by)} not known")
    if not found.rows.height:
        lines.append("No slice: nothing that was run has any.")
    return lines
