"""`skilleval report`: what a stored run says, in another format."""

from __future__ import annotations

from pathlib import Path

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options
from skilleval.cli.formats import FormatName

_EXAMPLE = """
skilleval report convert --input latest --format html
skilleval report convert --input latest --store outputs --format markdown html
skilleval report convert --input out/r/report.json --format html --output report.html
"""

_SHOW = """
skilleval report show latest
skilleval report show out/r/report.json
"""
_DIFF = """
skilleval report diff 20261101T080000Z-1a2b3c latest
skilleval report diff main.json branch.json --label-a main --label-b branch --output diff.md
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
    help="Formats: json markdown html csv (markdown).",
)
@click.option(
    "--output", type=click.Path(), metavar="FILE|DIR", help="Where to write; default: beside the input."
)
@_STORE
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


@report.command("show", cls=Command, example=_SHOW, short_help="Show the report of a stored run.")
@click.argument("source", metavar="RUN|FILE", shell_complete=completion.stored_runs)
@_STORE
@common_options
def show(common: Common, source: str, store: str) -> None:
    """Show the table and verdict of a stored run (folder, id, `latest`) or of a JSON report."""
    from skilleval.app.convert import read_report
    from skilleval.report.document import to_json
    from skilleval.report.terminal import table

    found, _ = read_report(source, Path(store))
    common.screen.document(to_json(found))
    common.screen.show(table(found, width=common.screen.width))


@report.command("diff", cls=Command, example=_DIFF, short_help="Show what became of the numbers of a run.")
@click.argument("before", metavar="A", shell_complete=completion.stored_runs)
@click.argument("after", metavar="B", shell_complete=completion.stored_runs)
@click.option("--label-a", default="before", show_default=True, metavar="TEXT", help="What to call A.")
@click.option("--label-b", default="after", show_default=True, metavar="TEXT", help="What to call B.")
@click.option("--output", type=click.Path(), metavar="FILE", help="Write Markdown instead of a table.")
@_STORE
@common_options
def diff(  # noqa: PLR0913 - one argument an option
    common: Common, *, before: str, after: str, label_a: str, label_b: str, output: str | None, store: str
) -> None:
    """Compare two stored runs or JSON reports, skill by skill: plain differences of each metric."""
    from skilleval.app.compare import compare
    from skilleval.report.comparison import markdown, table
    from skilleval.results.store import write_text

    comparison = compare(before, after, store=Path(store), labels=(label_a, label_b))
    common.screen.document(comparison.to_json())
    if output:
        write_text(Path(output), markdown(comparison))
        common.screen.say(output)
    else:
        common.screen.show(table(comparison))
