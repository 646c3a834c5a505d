"""`skilleval init`: the files and folders of a project."""

from __future__ import annotations

from pathlib import Path

import click

from skilleval.cli.arguments import Command, Common, common_options

_EXAMPLE = """
skilleval init
skilleval init --dir my-project
"""


@click.command("init", cls=Command, example=_EXAMPLE, short_help="Make the files and folders of a project.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(),
    default=".",
    show_default=True,
    metavar="DIR",
    help="The project's folder; it is made if it is not there.",
)
@common_options
def init(common: Common, folder: str) -> None:
    """Make skilleval.yaml (every key in a comment), skills/, benchmarks/ and conf/, and ignore outputs/ in git.

    What is there already is kept.
    """
    from skilleval.catalog.create import create_project

    changes = create_project(Path(folder))
    common.screen.document({"files": {str(path): change.value for path, change in changes.items()}})
    for path, change in changes.items():
        common.screen.say(f"{change.value + ':':10}{path}{'/' if path.is_dir() else ''}")
    common.screen.say("next:     skilleval create --name my-skill")
