"""What is left of a run whose evaluator was killed by force, so that it could tidy nothing itself."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

import pytest
from hostile.cases import ARENAS, PROCESSES_END, Arena, Program
from hostile.field import Field, a_field, abandoned_groups, read_mounts
from hostile.selection import marks

pytestmark = pytest.mark.hostile
_STAY = Program(name="stay", attacks=PROCESSES_END, does="never answers, in two processes")
_ENCLOSING = {arena.name: arena for arena in ARENAS if arena.promises and not arena.has_own_kernel}
"""Arenas whose processes can be seen from outside, so that it can be seen when they are gone."""


def _kill_in_mid_run(field: Field, arena: Arena) -> str:
    """Give what the names of the killed evaluator's control groups begin with."""
    field.prepare([_STAY], bystander=0)
    with subprocess.Popen(
        field.command(arena, [_STAY], "runner.timeout_ms=60000"),
        cwd=field.root,
        env=field.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as evaluator:
        assert _comes_true(lambda: len(field.nap.sleepers()) >= 2)
        evaluator.kill()
    return f"skilleval-{evaluator.pid}-"


def _start_again(field: Field, arena: Arena) -> None:
    command = field.command(arena, [])
    done = subprocess.run(
        command,
        cwd=field.root,
        env=field.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _comes_true(is_true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30  # a machine with much else to do
    while not is_true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_true()


def test_with_bubblewrap_everything_dies_with_the_evaluator() -> None:
    """Its processes end by themselves, and no mount of theirs was ever ours."""
    mounts = read_mounts()
    with a_field() as field:
        try:
            _kill_in_mid_run(field, _ENCLOSING["bubblewrap"])
            assert _comes_true(lambda: field.nap.sleepers() == [])
            assert read_mounts() == mounts
        finally:
            field.nap.wake()


@pytest.mark.parametrize(
    "arena", [pytest.param(arena, id=name, marks=marks(arena)) for name, arena in _ENCLOSING.items()]
)
def test_the_next_start_finds_and_removes_what_is_left(arena: Arena) -> None:
    """Processes that got away and control groups are gone once another run has started."""
    with a_field() as field:
        try:
            groups = _kill_in_mid_run(field, arena)
            _start_again(field, arena)
            assert _comes_true(lambda: field.nap.sleepers() == [])
            _start_again(field, arena)  # a group can be removed only when its last process has been reaped
            assert [group for group in abandoned_groups() if groups in group] == []
        finally:
            field.nap.wake()
