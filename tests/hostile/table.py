"""The table program × sandbox × outcome: as it must be (for the docs), and as it came out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from hostile.cases import ARENAS, PROGRAMS, Arena, Program

if TYPE_CHECKING:
    from hostile.field import Aftermath  # it loads Polars, which the documentation does not need

CONTAINED = "contained"
NOT_PROMISED = "not promised"

Cell = Callable[[Arena, Program], str]


def expected_table(arenas: tuple[Arena, ...] = ARENAS) -> str:
    """Give the table of what the suite demands."""
    return _table(arenas, lambda arena, program: CONTAINED if arena.runs(program) else NOT_PROMISED)


def fought_table(aftermaths: Mapping[Arena, Aftermath]) -> str:
    """Give the table of what came out; equal to the expected one if all is well."""

    def cell(arena: Arena, program: Program) -> str:
        if not arena.runs(program):
            return NOT_PROMISED
        faults = aftermaths[arena].faults(program)
        return f"**not contained**: {'; '.join(faults)}" if faults else CONTAINED

    return _table(aftermaths, cell)


def _table(arenas: Mapping[Arena, Aftermath] | tuple[Arena, ...], cell: Cell) -> str:
    return "\n".join(_lines(tuple(arenas), cell)) + "\n"


def _lines(arenas: tuple[Arena, ...], cell: Cell) -> Iterator[str]:
    names = " | ".join(arena.title for arena in arenas)
    yield f"| program | attacks | what it does | {names} |"
    yield "|---|---|---|" + "---|" * len(arenas)
    for program in PROGRAMS:
        cells = " | ".join(cell(arena, program) for arena in arenas)
        yield f"| `{program.name}` | {program.attacks} | {program.does} | {cells} |"
