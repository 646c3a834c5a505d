"""What Linux says about processes in `/proc`; every reader copes with processes that vanish meanwhile."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

_PROC = "/proc"
_PIECE = 16384


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One line of `/proc/<pid>/stat`; a zombie is dead but not reaped."""

    pid: int
    parent: int
    session: int
    is_zombie: bool


def read_bytes(path: str) -> bytes:
    """Give the content of a small file of the kernel: such files are read many times a trial, and `Path` is dear.

    Raises:
        OSError: it is not there, or went away meanwhile.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(descriptor, _PIECE), b""))
    finally:
        os.close(descriptor)


def is_alive(pid: int) -> bool:
    """Say whether there is a process of that id, whoever owns it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def read_process(pid: int) -> Process | None:
    """Give a process, or null if there is none of that id."""
    try:
        stat = read_bytes(f"{_PROC}/{pid}/stat")
    except OSError:
        return None
    # The second field is the program's name in brackets and may itself hold spaces and brackets.
    fields = stat.rpartition(b") ")[2].split()
    return Process(
        pid=pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        is_zombie=fields[0] in {b"Z", b"X"},
    )


def read_processes() -> tuple[Process, ...]:
    """Give all processes one may see."""
    pids = (int(name) for name in os.listdir(_PROC) if name.isdecimal())  # noqa: PTH208 - names, not paths: a Path each is dear
    return tuple(process for pid in pids if (process := read_process(pid)) is not None)


def read_own_children() -> tuple[int, ...]:
    """Give the ids of this process's children, adopted orphans and zombies included.

    One small file answers: Linux hands orphans to the main thread. Kernels built without it are asked the long way.
    """
    own = os.getpid()
    try:
        return tuple(map(int, read_bytes(f"{_PROC}/self/task/{own}/children").split()))
    except OSError:
        return tuple(process.pid for process in read_processes() if process.parent == own)


def read_variable(pid: int, name: str) -> str | None:
    """Give a variable of the environment a process was started with; null where absent or not readable."""
    try:
        environment = read_bytes(f"{_PROC}/{pid}/environ")
    except OSError:
        return None
    prefix = f"{name}=".encode()
    found = (item for item in environment.split(b"\0") if item.startswith(prefix))
    item = next(found, None)
    return None if item is None else item.removeprefix(prefix).decode("utf-8", "replace")


def descendants(roots: Iterable[int], processes: Iterable[Process]) -> set[int]:
    """Give the roots and all that stems from them."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for process in processes:
        children[process.parent].append(process.pid)
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children[pid]
    return found
