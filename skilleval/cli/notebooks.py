"""What every command that writes notebooks asks: by which template, and whether to execute it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli.arguments import Many
from skilleval.cli.formats import ALL, AnyWriter
from skilleval.errors import Problem, UsageError

if TYPE_CHECKING:
    from skilleval.app.notebooks import NotebookOptions

_OPTIONS = (
    click.option(
        "--template",
        metavar="NAME",
        help="Of a notebook: run, scorers, uplift, paper, compare, sweep or one of yours; default: the one that fits.",
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


def chosen_notebook(
    options: Mapping[str, Any], formats: Iterable[str], known: Mapping[str, AnyWriter]
) -> NotebookOptions:
    """Read those options; `formats` are those that are going to be written.

    Raises:
        UsageError: a template is named, but no notebook is asked for.
    """
    from skilleval.app.notebooks import NotebookOptions

    # Who wants `all` of a JSON report was told why there is no notebook; a writer from elsewhere may make one.
    if ALL not in options["formats"] and all(
        name in known and not known[name].reads_rows for name in formats
    ):
        _refuse_templates(options)
    folders = tuple(Path(folder) for folder in options["templates"])
    return NotebookOptions(execute=not options["no_execute"], template=options["template"], folders=folders)


def _refuse_templates(options: Mapping[str, Any]) -> None:
    named = {"--template": options["template"], "--templates": ", ".join(map(str, options["templates"]))}
    problems = tuple(
        Problem(where=option, expected="a notebook among the formats", found=value)
        for option, value in named.items()
        if value
    )
    if problems:
        raise UsageError(
            "a template makes notebooks only", problems=problems, hint="ask for one: --format notebook"
        )
