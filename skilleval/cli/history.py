"""`skilleval history`: how skills did over all stored runs, and when they changed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, common_options
from skilleval.cli.find import STORE, stored_at
from skilleval.cli.listing import show_rows

if TYPE_CHECKING:
    from skilleval.app.timeline import Line, Timeline

log = logging.getLogger(__name__)

_EXAMPLE = """
skilleval history --skill calculator
skilleval history --benchmark coding-easy --metric p95_ms --json
"""


@click.command("history", cls=Command, example=_EXAMPLE, short_help="Show how skills did over time.")
@click.option("--skill", metavar="ID", help="This skill only.")
@click.option("--benchmark", shell_complete=completion.benchmarks, metavar="ID", help="This benchmark only.")
@click.option("--scorer", metavar="NAME", help="The verdicts of this scorer only.")
@click.option(
    "--metric", default="completion_rate", show_default=True, metavar="NAME", help="A metric of the summary."
)
@click.option(
    "--store", type=click.Path(), metavar="DIR", help=f"Where stored runs are looked for ({STORE})."
)
@common_options
def history(common: Common, **options: Any) -> None:
    """Show the figures of all finished runs below a folder, oldest first, a line for each skill.

    Only runs that can be compared are on one line: the same content of the benchmark, version and settings of the
    scorer, and formulas. A change is told where the means of the tasks moved (binary segmentation, with the p of a
    seeded permutation test).
    """
    from skilleval.app.timeline import Wanted, timeline

    names = ("metric", "skill", "benchmark", "scorer")
    found = timeline(stored_at(options["store"]), Wanted(**{name: options[name] for name in names}))
    for notice in found.notices:
        log.warning("%s", notice)
    common.screen.document(found.facts())
    for line in found.lines:
        _show(common, found, line)


def _show(common: Common, found: Timeline, line: Line) -> None:
    from skilleval.report.course_text import change_text
    from skilleval.report.text import one_line

    common.screen.say(one_line(_headline(found, line)))
    show_rows(
        common.screen,
        ("started", "run", "version", "content", found.metric, "tasks", "graded"),
        [_cells(found.metric, point) for point in line.points],
    )
    for change in line.changes:
        common.screen.say(f"▲ {change_text(asdict(change), found.metric)}")
    if line.note:
        common.screen.say(f"({line.note})")
    common.screen.say("")


def _headline(found: Timeline, line: Line) -> str:
    """Name a line, with its course as a row of bars."""
    from skilleval.report.course_text import course, line_name

    return f"{line_name(line.about)}  {course([point['value'] for point in line.points], found.metric)}"


def _cells(metric: str, point: Mapping[str, Any]) -> list[str]:
    from skilleval.app.timeline import content
    from skilleval.report.metric_text import valued

    return [
        str(point["started_at"] or "–")[:19],
        point["run_id"],
        point["skill_version"],
        content(point["skill_digest"]),
        valued(metric, point["value"], point["low"], point["high"]),
        str(point["n_tasks"]),
        str(point["n_graded"]),
    ]
