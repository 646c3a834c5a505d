"""`skilleval init`: the files and folders of a project."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from skilleval.cli.arguments import Command, Common, common_options
from skilleval.errors import Problem, UsageError

_EXAMPLE = """
skilleval init
skilleval init my-project
"""


@click.command("init", cls=Command, example=_EXAMPLE, short_help="Make the files and folders of a project.")
@click.argument("named", type=click.Path(), required=False, metavar="[DIR]")
@click.option("--dir", "folder", type=click.Path(), metavar="DIR", help="The same as DIR.")
@common_options
def init(common: Common, named: str | None, folder: str | None) -> None:
    """Make skilleval.yaml (every key in a comment), skills/, benchmarks/ and conf/, and ignore outputs/ in git.

    In DIR, which is made if it is not there, else in the working directory. What is there already is kept.
    """
    from skilleval.catalog.create import create_project

    if named is not None and folder is not None:
        problem = Problem(where="--dir", expected="one folder", found=f"{named} and {folder}")
        raise UsageError("a project has one folder", problems=(problem,))
    place = Path(named or folder or ".")
    changes = create_project(place)
    common.screen.document({"files": {str(path): change.value for path, change in changes.items()}})
    for path, change in changes.items():
        common.screen.say(f"{change.value + ':':10}{path}{'/' if path.is_dir() else ''}")
    enter = "" if place.resolve() == Path.cwd() else f"cd {shlex.quote(str(place))} && "
    common.screen.say(f"next:     {enter}skilleval create --name my-skill")
