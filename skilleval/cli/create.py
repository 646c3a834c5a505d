"""`skilleval create`: a new skill that works, with a starter benchmark it passes."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from skilleval.cli.arguments import Command, Common, common_options

_EXAMPLE = """
skilleval create --name my-skill --from-template python_script
skilleval create --name "Unit conversion" --from-template node_script --description "Converts units"
"""
_DESCRIPTION = "Says a query louder"
"""What every template does."""


@click.command("create", cls=Command, example=_EXAMPLE, short_help="Make a new skill from a template.")
@click.option(
    "--name", required=True, metavar="NAME", help="What people call the skill; its id is made of it."
)
@click.option(
    "--from-template",
    "template",
    default="http_request",
    show_default=True,
    metavar="NAME",
    help="http_request, node_script or python_script.",
)
@click.option(
    "--output-dir",
    type=click.Path(),
    default="skills",
    show_default=True,
    metavar="DIR",
    help="Where the skill's folder goes.",
)
@click.option(
    "--description", default=_DESCRIPTION, show_default=True, metavar="TEXT", help="What the skill does."
)
@common_options
def create(common: Common, *, name: str, template: str, output_dir: str, description: str) -> None:
    """Make a folder with a skill that runs and a starter benchmark that it passes; nothing is overwritten.

    The id is the name where that is a plain word; else a word made of it, with a hash so that no two names meet.
    """
    from skilleval.catalog.create import create_skill

    made = create_skill(name, template=template, output_dir=Path(output_dir), description=description)
    command = shlex.join(["skilleval", "eval", str(made.folder), "--tasks", str(made.starter)])
    common.screen.document(
        {
            "id": made.id,
            "folder": str(made.folder),
            "files": [str(path) for path in made.files],
            "next": command,
        }
    )
    for path in made.files:
        common.screen.say(f"made:     {path}")
    common.screen.say(f"next:     {command}")
