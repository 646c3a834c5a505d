"""`skilleval report`: what a stored run says, in another format."""

from __future__ import annotations

from pathlib import Path

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options

_EXAMPLE = """
skilleval report convert --input latest --format html
skilleval report convert --input latest --store outputs --format markdown html
skilleval report convert --input out/r/report.json --format html --output report.html
"""


@click.group(
    short_help="Show stored runs in other formats.", context_settings={"help_option_names": ["-h", "--help"]}
)
def report() -> None:
    """Work with the reports of stored runs."""


@report.command(
    "convert", cls=Command, example=_EXAMPLE, short_help="Write a stored report in other formats."
)
@click.option(
    "--input",
    "source",
    shell_complete=completion.stored_runs,
    required=True,
    metavar="RUN|FILE",
    help="A run folder, a run id, `latest`, or a JSON report.",
)
@click.option(
    "--format",
    "formats",
    shell_complete=completion.formats,
    cls=Many,
    metavar="NAME...",
    help="Formats: json markdown html (markdown).",
)
@click.option(
    "--output", type=click.Path(), metavar="FILE|DIR", help="Where to write; default: beside the input."
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
def convert(common: Common, source: str, formats: tuple[str, ...], output: str | None, store: str) -> None:
    """Write the report of a stored run, or a JSON report, in other formats. Nothing is run again."""
    from skilleval.app.convert import convert_report

    written = convert_report(
        source,
        formats=formats or ("markdown",),
        output=Path(output) if output else None,
        store=Path(store),
    )
    common.screen.document({"reports": {name: str(path) for name, path in written.items()}})
    for name, path in written.items():
        common.screen.say(f"{name + ':':10}{path}")
