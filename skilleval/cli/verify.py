"""`skilleval verify`: is every number of a paper what its rows give?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options
from skilleval.outcome import ExitCode

if TYPE_CHECKING:
    from skilleval.report.paper.differences import Difference

_EXAMPLE = """
skilleval verify paper
skilleval verify paper --json
skilleval verify paper --again latest
"""
_SHOWN = 100
_LONGEST = 160
_LED_IN_BY = 60
"""How much of a long line is shown before the place where its two versions part."""


@click.command(
    "verify", cls=Command, example=_EXAMPLE, short_help="Recompute a paper from its rows, and compare."
)
@click.argument("folder", type=click.Path(), metavar="DIR")
@click.option(
    "--again",
    cls=Many,
    metavar="RUN...",
    shell_complete=completion.stored_runs,
    help="Runs that repeat those of the paper: compare skills, tasks and scorers by digest.",
)
@click.option(
    "--store",
    type=click.Path(),
    metavar="DIR",
    default="outputs",
    show_default=True,
    help="Where runs of --again are looked up.",
)
@common_options
def verify(common: Common, *, folder: str, again: tuple[str, ...], store: str) -> None:
    """Recompute everything in a paper kit from its rows, and name every difference.

    Numbers, tables, macros, figures, methods and bibliography must be what the rows give, and the rows what they were
    when the kit was written. main.tex and Makefile are the author's: of main.tex the macros alone are looked at.

    Exit codes: 0 nothing differs, 1 something does, 2 there is no kit or its rows cannot be read.
    """
    from skilleval.app.verify import verify as verified

    found = verified(Path(folder), again=again, store=Path(store))
    common.screen.document(
        {
            "folder": str(found.folder),
            "sentence": found.sentence,
            "numbers_equal": found.numbers_equal,
            "n_files": found.n_files,
            "n_numbers": found.n_numbers,
            "versions": list(found.versions),
            "differences": [asdict(one) for one in found.differences],
        }
    )
    for one in found.differences[:_SHOWN]:
        for line in _lines(one):
            common.screen.say(line)
    if len(found.differences) > _SHOWN:
        common.screen.say(f"{len(found.differences) - _SHOWN} more differences: see them with --json")
    if found.differences and found.versions:
        common.screen.say(f"other versions here than where it was written: {', '.join(found.versions)}")
    common.screen.say(found.sentence)
    click.get_current_context().exit(int(ExitCode.GATE_NOT_MET if found.differences else ExitCode.OK))


def _lines(one: Difference) -> list[str]:
    """Say where something differs, what stands there, and what the rows give."""
    from skilleval.report.text import one_line

    place = f"{one.file}:{one.line}" if one.line is not None else one.file
    said = f"{place}: {one.kind.value}" + (f", {one.what}" if one.what else "")
    sides = [("stands there", one.found), ("rows give", one.expected)] if one.found or one.expected else []
    start = _start(one.found, one.expected)
    lead = "…" if start else ""
    return [
        one_line(said),
        *(f"  {name}: {lead}{one_line(text[start:], limit=_LONGEST)}" for name, text in sides),
    ]


def _start(found: str, expected: str) -> int:
    """Say where to begin two lines so that what differs is seen: a row of a table is longer than a screen is wide."""
    length = min(len(found), len(expected))
    parted = next((at for at in range(length) if found[at] != expected[at]), length)
    return 0 if parted < _LONGEST // 2 else parted - _LED_IN_BY
