from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilleval.sandboxes.procfs import (
    Process,
    descendants,
    read_own_children,
    read_process,
    read_processes,
    read_variable,
)


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Give a child whose name is made to confuse readers of `/proc`."""
    program = tmp_path / ") S 1 2 3 ("
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "20"], env={"MARK": "a=b", "OTHER": ""}) as child:
        yield child
        child.kill()


def test_a_process_is_read_whatever_its_name(sleeper: subprocess.Popen[bytes]) -> None:
    """Brackets and spaces in a program's name do not shift the fields."""
    process = read_process(sleeper.pid)
    assert process is not None
    assert (process.parent, process.session) == (os.getpid(), os.getsid(0))
    assert not process.is_zombie


def test_children_are_the_same_by_both_ways(sleeper: subprocess.Popen[bytes]) -> None:
    """The short file and the whole of `/proc` tell the same children."""
    long_way = {process.pid for process in read_processes() if process.parent == os.getpid()}
    assert sleeper.pid in read_own_children()
    assert set(read_own_children()) == long_way


def test_a_zombie_is_told_from_a_living_process(sleeper: subprocess.Popen[bytes]) -> None:
    """What is dead but not reaped still has its line, and says so."""
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    process = read_process(sleeper.pid)
    assert process is not None
    assert process.is_zombie
    assert read_variable(sleeper.pid, "MARK") is None


def test_a_variable_is_read_from_the_start_of_a_process(sleeper: subprocess.Popen[bytes]) -> None:
    """Values may hold equals signs and be empty; what is not there is null."""
    assert read_variable(sleeper.pid, "MARK") == "a=b"
    assert read_variable(sleeper.pid, "OTHER") == ""
    assert read_variable(sleeper.pid, "MAR") is None


def test_a_process_that_is_gone_is_null() -> None:
    """An id that nobody has is an answer and no error."""
    with subprocess.Popen(["true"]) as child:
        child.wait()
    assert read_process(child.pid) is None
    assert read_variable(child.pid, "PATH") is None


def test_descendants_are_found_at_any_depth() -> None:
    """The family of 2 in a chain 1-2-3-4 with a stranger 9 is 2, 3 and 4."""
    processes = [
        Process(pid=pid, parent=parent, session=1, is_zombie=False)
        for pid, parent in [(4, 3), (2, 1), (9, 1), (3, 2)]
    ]
    assert descendants([2], processes) == {2, 3, 4}
