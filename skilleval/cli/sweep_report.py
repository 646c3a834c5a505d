"""`skilleval sweep report`: what the settings of a sweep do, which did best, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skilleval.cli.arguments import Command, Common, Many, common_options
from skilleval.cli.formats import FormatName, wished
from skilleval.cli.listing import show_rows
from skilleval.cli.notebooks import chosen_notebook, notebook_options
from skilleval.cli.rate import Rate
from skilleval.report.sweep_writers import SWEEP_WRITERS

_EXAMPLE = """
skilleval sweep report latest
skilleval sweep report 20261130T212810Z-a41d5c --format html markdown csv --output reports
skilleval sweep report latest --metric latency_ms --format latex --output paper/sweep.tex
skilleval sweep report latest --format notebook
"""
_FORMATS = " ".join(SWEEP_WRITERS)


@click.command("report", cls=Command, example=_EXAMPLE, short_help="Say what the settings of a sweep do.")
@click.argument("reference", default="latest", metavar="[SWEEP]")
@click.option(
    "--format",
    "formats",
    cls=Many,
    type=FormatName(),
    metavar="NAME...",
    help=f"{_FORMATS}, or all (html).",
)
@click.option(
    "--metric",
    default="completion_rate",
    show_default=True,
    metavar="NAME",
    help="What settings are held against: completion_rate, partial_score, error_rate, latency_ms, tokens, cost_usd.",
)
@click.option(
    "--margin",
    type=Rate(),
    default="0.05",
    show_default=True,
    metavar="RATE",
    help="A difference of shares that does not matter, 0-1.",
)
@notebook_options
@click.option(
    "--output",
    type=click.Path(),
    metavar="FILE|DIR",
    help="Where to write; default: the folder of the sweep.",
)
@click.option(
    "--store",
    type=click.Path(),
    metavar="DIR",
    default="outputs",
    show_default=True,
    help="Where sweep ids and `latest` are looked up.",
)
@common_options
def report(common: Common, reference: str, **options: Any) -> None:
    """Compare the settings of a sweep, paired over tasks. Nothing is run again.

    Says what each setting does, whether one depends on another, which did best and how sure that is, whether the order
    of the skills depends on them, what the sweep cost, and which jobs failed.

    SWEEP is a folder, an id, part of an id, or `latest`. Jobs without a result are listed, and count nowhere.
    """
    from skilleval.app.sweep_files import sweep_paths, write_sweep_report
    from skilleval.app.sweep_report import analyse_sweep
    from skilleval.report.sweep_tables import effects_table
    from skilleval.report.text import one_line
    from skilleval.results.sweeps import find_sweep

    folder = find_sweep(reference, Path(options["store"]))
    output = Path(options["output"]) if options["output"] else None
    paths = sweep_paths(
        wished(options["formats"], SWEEP_WRITERS, usual=("html",)), folder=folder, output=output
    )
    notebook = chosen_notebook(options, paths, SWEEP_WRITERS)
    found = analyse_sweep(folder, metric=options["metric"], margin=options["margin"])
    write_sweep_report(found, paths, folder=folder, notebook=notebook)
    written = {name: str(path) for name, path in paths.items()}
    common.screen.document({**found.to_json(), "reports": written})
    for sentence in found.sentences:
        common.screen.say(one_line(sentence))
    for warning in found.warnings:
        common.screen.say(f"note: {one_line(warning)}")
    if (table := effects_table(found)) is not None:
        common.screen.say("")
        show_rows(common.screen, table.header, table.rows)
    common.screen.say("")
    for name, path in written.items():
        common.screen.say(f"{name + ':':10}{path}")
