"""What every command that writes notebooks asks: by which template, and whether to execute it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli.arguments import Many

if TYPE_CHECKING:
    from skilleval.app.notebooks import NotebookOptions

_OPTIONS = (
    click.option(
        "--template",
        metavar="NAME",
        help="Of a notebook: run, scorers, uplift, paper, compare or one of yours; default: the one that fits.",
    ),
    click.option(
        "--templates",
        cls=Many,
        type=click.Path(),
        metavar="DIR...",
        help="Folders with templates of notebooks of your own.",
    ),
    click.option("--no-execute", is_flag=True, help="Write a notebook without running its cells."),
)


def notebook_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of notebooks."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def chosen_notebook(options: Mapping[str, Any]) -> NotebookOptions:
    """Read those options."""
    from skilleval.app.notebooks import NotebookOptions

    folders = tuple(Path(folder) for folder in options["templates"])
    return NotebookOptions(execute=not options["no_execute"], template=options["template"], folders=folders)
