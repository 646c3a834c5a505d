"""`skilleval history`: how skills did over all stored runs, and when they changed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, common_options
from skilleval.cli.find import STORE, stored_at
from skilleval.cli.listing import show_rows

if TYPE_CHECKING:
    from skilleval.app.timeline import Change, Line, Timeline

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
    from skilleval.report.text import one_line

    common.screen.say(one_line(_headline(found, line)))
    show_rows(
        common.screen,
        ("started", "run", "version", "content", found.metric, "tasks", "graded"),
        [_cells(found.metric, point) for point in line.points],
    )
    for change in line.changes:
        common.screen.say(f"▲ {told(change, found.metric)}")
    if line.note:
        common.screen.say(f"({line.note})")
    common.screen.say("")


def _headline(found: Timeline, line: Line) -> str:
    """Name a line, with its course as a row of bars."""
    from skilleval.report.metric_text import style_of
    from skilleval.report.numbers import Style
    from skilleval.report.sparkline import sparkline

    ends = {"low": 0.0, "high": 1.0} if style_of(found.metric) is Style.RATE else {}
    about = line.about
    mode = "" if about["mode"] == "direct" else f" · {about['mode']}"
    driven = " · ".join(str(about[name]) for name in ("adapter", "model", "sandbox") if about[name])
    course = sparkline([point["value"] for point in line.points], **ends)
    place = f"{about['benchmark_id']}@{about['benchmark_version']} by {about['scorer']}"
    return f"{about['skill_id']}{mode} on {place} ({driven})  {course}"


def told(change: Change, metric: str) -> str:
    """Say a change in a sentence."""
    from skilleval.report.metric_text import style_of
    from skilleval.report.numbers import p_text, shown, signed

    style = style_of(metric)
    values = f"{shown(change.before, style)} → {shown(change.after, style)}"
    gap = signed(change.after - change.before, style)
    why = "with other files of the skill" if change.skill_changed else "with the same files of the skill"
    since = f"changed at {change.run_id}: {values} ({gap}, {p_text(change.p_value)}, {change.n_tasks} tasks)"
    return f"{since}, {why}"


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
