"""`skilleval items`: which tasks of a benchmark tell skills apart, and which are dead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, common_options
from skilleval.cli.listing import show_rows

if TYPE_CHECKING:
    from skilleval.app.items import Items

_HEADINGS = ("benchmark", "scorer", "task", "subjects", "graded", "pass rate", "item–rest", "finding")
_EXAMPLE = """
skilleval items latest
skilleval items outputs/RUN outputs/RUN --json
"""


@click.command("items", cls=Command, example=_EXAMPLE, short_help="Show which tasks tell skills apart.")
@click.argument(
    "references", nargs=-1, required=True, metavar="RUN...", shell_complete=completion.stored_runs
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
def items(common: Common, *, references: tuple[str, ...], store: str) -> None:
    """Analyse the tasks of a benchmark by all skills that met them: difficulty, item–rest correlation, reliability.

    A skill as it was driven is one subject, however often it was repeated; three are needed for a correlation. Tasks
    that everybody passes or fails, that nobody was graded on, or that better skills fail are told with what to do.
    """
    from skilleval.app.items import analyse_items

    found = analyse_items(references, store=Path(store))
    common.screen.document(found.facts())
    for row in found.tests.iter_rows(named=True):
        common.screen.say(told(row))
    show_rows(common.screen, _HEADINGS, [_cells(row) for row in found.tasks.iter_rows(named=True)])
    for line in advice(found):
        common.screen.say(line)


def told(row: Mapping[str, Any]) -> str:
    """Say the reliability of a benchmark in a line."""
    from skilleval.report.numbers import counted, rate
    from skilleval.report.text import one_line

    what = f"{row['benchmark_id']}@{row['benchmark_version']} by {row['scorer']}"
    value = row["method"] if row["alpha"] is None else f"{row['method']} {rate(row['alpha'])}"
    seen = f"{counted(row['n_tasks'], 'task')}, {counted(row['n_subjects'], 'subject')}"
    return one_line(f"{what}: reliability {value} ({seen})")


def advice(found: Items) -> list[str]:
    """Say what to do, once a finding."""
    from skilleval.analytics.items import ADVICE
    from skilleval.report.numbers import counted

    return [f"▲ {counted(n, 'task')} {name}: {ADVICE[name]}" for name, n in found.findings().items()]


def _cells(row: Mapping[str, Any]) -> list[str]:
    from skilleval.report.numbers import Style, shown

    return [
        row["benchmark_id"],
        row["scorer"] or "–",
        row["task_id"],
        str(row["n_subjects"]),
        str(row["n_graded"]),
        shown(row["pass_rate"], Style.RATE),
        shown(row["item_rest"], Style.RATE),
        row["finding"] or "",
    ]
