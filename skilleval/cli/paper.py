"""`skilleval paper`: tables, figures, numbers and methods of stored runs, for LaTeX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, common_options

_EXAMPLE = """
skilleval paper latest
skilleval paper latest --baseline calculator --scorer task --out paper
skilleval paper 20261130T113330Z-9f86d0 20261130T121500Z-0c11aa --title "Two seeds"
"""


@click.command(
    "paper", cls=Command, example=_EXAMPLE, short_help="Write a kit for a paper: LaTeX, figures, data."
)
@click.argument(
    "runs", nargs=-1, required=True, metavar="RUN|SWEEP|FOLDER...", shell_complete=completion.stored_runs
)
@click.option(
    "--out", type=click.Path(), metavar="DIR", default="paper", show_default=True, help="Where to write."
)
@click.option(
    "--baseline",
    default="",
    metavar="RUN|SKILL",
    help="What others are held against: a skill, or a run (default: the best).",
)
@click.option("--scorer", default="", metavar="NAME", help="Verdicts of this scorer only.")
@click.option("--title", default="", metavar="TEXT", help="The title of the article.")
@click.option("--link", is_flag=True, help="Point to the rows where they are, in place of copying them.")
@click.option(
    "--store",
    type=click.Path(),
    metavar="DIR",
    default="outputs",
    show_default=True,
    help="Where run ids and `latest` are looked up.",
)
@common_options
def paper(common: Common, **options: Any) -> None:
    """Write a kit for a paper about stored runs; a sweep or folder stands for the whole runs of it. Nothing is run.

    Tables and macros of numbers, figures as PDF and SVG, a paragraph on methods, a bibliography, the rows
    themselves, and an article that takes up all of it. Runs on one benchmark count together, as more repeats; each
    benchmark has tables of its own. `skilleval verify DIR` recomputes everything.
    """
    from skilleval.app.named_runs import named_runs
    from skilleval.app.paper import write_paper
    from skilleval.report.paper.document import Options

    asked = Options(
        title=options["title"], baseline=options["baseline"], scorer=options["scorer"], linked=options["link"]
    )
    store = Path(options["store"])
    runs = named_runs(options["runs"], store)
    written = write_paper(runs, store=store, out=Path(options["out"]), options=asked)
    facts = written.kit.facts
    common.screen.document(
        {
            "folder": str(written.folder),
            "files": list(written.files),
            "kept": list(written.placed.kept),
            "removed": list(written.placed.removed),
            "changed": list(written.placed.changed),
            "runs": [run["run_id"] for run in facts["runs"]],
            "n_numbers": len(facts["numbers"]),
        }
    )
    for name in written.files:
        common.screen.say(str(written.folder / name))
    said = {
        "yours: kept as it is": written.placed.kept,
        "removed: it was of the kit before": written.placed.removed,
        "no part of the kit any more, kept because it was changed": written.placed.changed,
    }
    for what, names in said.items():
        for name in names:
            common.screen.say(f"{written.folder / name} ({what})")
