"""`skilleval report`: what a stored run says, in another format."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options
from skilleval.cli.diff import diff
from skilleval.cli.formats import REPORT_FORMATS, FormatName, has_rows, wished
from skilleval.cli.notebooks import chosen_notebook, notebook_options
from skilleval.cli.serve import serve
from skilleval.errors import ResultsError

if TYPE_CHECKING:
    from skilleval.report.document import Report

_EXAMPLE = """
skilleval report convert --input latest --format html
skilleval report convert --input latest --store outputs --format markdown html
skilleval report convert --input latest --format all --output reports
skilleval report convert --input out/r/report.json --format html --output report.html
"""

_SHOW = """
skilleval report show latest
skilleval report show latest --view agreement
skilleval report show out/r/report.json
"""
_STORE = click.option(
    "--store",
    type=click.Path(),
    metavar="DIR",
    default="outputs",
    show_default=True,
    help="Where run ids and `latest` are looked up.",
)


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
    type=FormatName(),
    metavar="NAME...",
    help=f"{REPORT_FORMATS}, or all (default: markdown).",
)
@notebook_options
@click.option(
    "--output", type=click.Path(), metavar="FILE|DIR", help="Where to write; default: beside the input."
)
@_STORE
@common_options
def convert(
    common: Common, *, source: str, formats: tuple[str, ...], output: str | None, **options: Any
) -> None:
    """Write the report of a stored run, or a JSON report, in other formats. Nothing is run again."""
    from skilleval.app.convert import convert_report
    from skilleval.report import WRITERS

    chosen = wished(formats, WRITERS, usual=("markdown",), has_rows=has_rows(source))
    written = convert_report(
        source,
        formats=chosen,
        output=Path(output) if output else None,
        store=Path(options["store"]),
        notebook=chosen_notebook({**options, "formats": formats}, chosen, WRITERS),
    )
    common.screen.document({"reports": {name: str(path) for name, path in written.items()}})
    for name, path in written.items():
        common.screen.say(f"{name + ':':10}{path}")


@report.command("show", cls=Command, example=_SHOW, short_help="Show the report of a stored run.")
@click.argument("source", metavar="RUN|FILE", shell_complete=completion.stored_runs)
@click.option(
    "--view",
    type=click.Choice(["summary", "agreement"]),
    default="summary",
    show_default=True,
    help="What to show: everything in short, or how far the scorers of the run agree.",
)
@_STORE
@common_options
def show(common: Common, *, source: str, view: str, store: str) -> None:
    """Show the table and verdict of a stored run (folder, id, `latest`) or of a JSON report."""
    from skilleval.app.convert import read_report
    from skilleval.report.document import to_json
    from skilleval.report.terminal import table

    found, _ = read_report(source, Path(store))
    if view == "agreement":
        _show_agreement(common, found)
        return
    common.screen.document(to_json(found))
    common.screen.show(table(found, width=common.screen.width))


def _show_agreement(common: Common, found: Report) -> None:
    """Show how far the scorers of a run agree.

    Raises:
        ResultsError: there are not two of them.
    """
    from skilleval.report.terminal import agreement_view

    if found.agreement is None:
        hint = "score the attempts by several: skilleval score RUN 'scorer=[task,contains]'"
        raise ResultsError(f"{found.run.run_id} was judged by fewer than two scorers", hint=hint)
    common.screen.document({"run_id": found.run.run_id, **asdict(found.agreement)})
    common.screen.show(agreement_view(found, width=common.screen.width))


report.add_command(diff)
report.add_command(serve)
