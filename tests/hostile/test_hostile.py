"""Hostile programs as skills of an ordinary run, in every sandbox; `make hostile` runs them."""

from __future__ import annotations

import pytest
from hostile.cases import ARENAS, PROGRAMS, Arena, Program
from hostile.field import aftermath, fight
from hostile.selection import marks
from hostile.table import expected_table, fought_table

pytestmark = pytest.mark.hostile
_ARENAS = [pytest.param(arena, id=arena.name, marks=marks(arena)) for arena in ARENAS]
_PAIRS = [
    pytest.param(arena, program, id=f"{arena.name}-{program.name}", marks=marks(arena))
    for arena in ARENAS
    for program in PROGRAMS
    if arena.runs(program)
]


@pytest.mark.parametrize(("arena", "program"), _PAIRS)
def test_a_hostile_program_is_contained(arena: Arena, program: Program) -> None:
    """It manages nothing, its row names status and cause, and from outside nothing of it is seen."""
    assert aftermath(arena).faults(program) == []


@pytest.mark.parametrize("arena", _ARENAS)
def test_the_run_goes_on_and_nothing_is_left(arena: Arena) -> None:
    """A harmless skill of the same run passes; no process, mount, control group or file stays."""
    assert aftermath(arena).faults_of_the_run() == []


@pytest.mark.parametrize("arena", _ARENAS)
def test_what_is_not_utf8_is_counted(arena: Arena) -> None:
    """Bytes that are no text are replaced, and the row says how many."""
    row = aftermath(arena).rows["not_text"]
    assert row["output_encoding_errors"] > 0


def test_without_a_sandbox_the_same_programs_break_out() -> None:
    """The judgement can go the other way: what only looks around is noticed where nothing holds it."""
    names = {"read_files", "read_environment", "reach_tcp", "reach_udp", "reach_sockets"}
    programs = [program for program in PROGRAMS if program.name in names]
    unguarded = fight(ARENAS[-1], programs)
    assert {program.name for program in programs if unguarded.faults(program)} == names


@pytest.mark.parametrize("arena", _ARENAS)
def test_the_table_of_the_docs_is_what_is_fought(arena: Arena) -> None:
    """A cell of the documentation says `contained` exactly where the fight says so."""
    assert fought_table({arena: aftermath(arena)}) == expected_table((arena,))
