"""Control groups of Linux: limits that hold for all processes of a trial together, and a way to find and end them.

Version 2 has one tree of groups, version 1 one a controller; both may be mounted side by side. Groups are made below
the place where this process itself is, or the nearest place above it that hands its controllers on: other places
belong to others. A group is used for one trial after another, because that is cheaper than making one each time.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from skilleval.sandboxes.base import MEMORY, PROCESSES
from skilleval.sandboxes.procfs import is_alive, read_bytes

_PREFIX = "skilleval-"
_NEGLIGIBLE_BYTES = 4 << 20  # the kernel counts in batches, so an empty group does not read 0
_CPU_PERIOD_US = 100_000
_QUESTION_S = 10.0
_CONTROLLERS = ("memory", "pids", "cpu")
_numbers = itertools.count()
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLimits:
    """What the processes of one group may use together; null means no limit."""

    memory_bytes: int | None = None
    processes: int | None = None
    cpus: float | None = None

    def controllers(self) -> frozenset[str]:
        """Name the controllers that are needed."""
        asked = zip(_CONTROLLERS, (self.memory_bytes, self.processes, self.cpus), strict=True)
        return frozenset(name for name, value in asked if value is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hierarchy:
    """A folder below which groups can be made, and the controllers that limit them there."""

    version: int
    folder: Path
    controllers: frozenset[str]


def find_hierarchies(membership: str, mounts: str) -> tuple[Hierarchy, ...]:
    """Find where groups could be made, from the texts of `/proc/self/cgroup` and `/proc/self/mountinfo`.

    Folders that cannot be written to are left out, and so are controllers that version 2 does not hand on.
    """
    mounted = dict(_mounted(mounts))
    found: list[Hierarchy] = []
    for line in membership.splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(",") if names else [""]:
            root, mount = mounted.get(name, ("", None))
            if mount is None or (name and name not in _CONTROLLERS):
                continue
            own = mount / os.path.relpath(path, root)
            found += _unified(own, mount) if not name else _legacy(own, name)
    return tuple(found)


@cache
def usable_hierarchies() -> tuple[Hierarchy, ...]:
    """Give where groups can be made and entered here; each place is tried once."""
    try:
        membership = Path("/proc/self/cgroup").read_text(encoding="utf-8")
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    except OSError:  # no Linux
        return ()
    return tuple(one for one in find_hierarchies(membership, mounts) if _works(one))


def _works(hierarchy: Hierarchy) -> bool:
    limits = GroupLimits(memory_bytes=1 << 26, processes=8, cpus=1.0)
    groups = ControlGroups((hierarchy,), limits)
    try:
        group = groups.take()
        entering = ("/bin/sh", "-c", 'echo 0 > "$1"', "sh", str(group.entrances[0]))
        entered = subprocess.run(  # noqa: S603 - a fixed command line of ours
            entering, stdin=subprocess.DEVNULL, capture_output=True, timeout=_QUESTION_S, check=False
        )
        groups.give_back(group)
    except (OSError, subprocess.TimeoutExpired):
        return False
    finally:
        groups.close()
    return entered.returncode == 0


def _mounted(mounts: str) -> Iterator[tuple[str, tuple[str, Path]]]:
    """Give for each controller of version 1, and for "" as version 2, what is mounted where."""
    for line in mounts.splitlines():
        fields, _, source = line.partition(" - ")
        root, mount = fields.split()[3:5]
        kind, _, options = source.split(" ", 2)
        if kind == "cgroup2":
            yield "", (root, Path(mount))
        elif kind == "cgroup":
            for name in options.rsplit(" ", 1)[-1].split(","):
                yield name, (root, Path(mount))


def _legacy(own: Path, controller: str) -> list[Hierarchy]:
    if not os.access(own, os.W_OK):
        return []
    return [Hierarchy(version=1, folder=own, controllers=frozenset({controller}))]


def _unified(own: Path, mount: Path) -> list[Hierarchy]:
    # A group that holds processes cannot hand controllers on, so the place is mostly the one above our own.
    for folder in (own, *own.parents):
        if not folder.is_relative_to(mount):
            break
        passed_on = frozenset(_words(folder / "cgroup.subtree_control")) & set(_CONTROLLERS)
        if passed_on and os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK):
            return [Hierarchy(version=2, folder=folder, controllers=passed_on)]
    return []


def sweep(hierarchies: Iterable[Hierarchy]) -> None:
    """End and remove what evaluators left behind that are dead themselves, e.g. after `kill -9`."""
    for hierarchy in hierarchies:
        for folder in hierarchy.folder.glob(f"{_PREFIX}*"):
            pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
            if pid.isdecimal() and not is_alive(int(pid)):
                _clear(folder)


def _clear(folder: Path) -> None:
    for inner in (*folder.glob("*/"), folder):
        _end(_processes(inner / "cgroup.procs"))
        with contextlib.suppress(
            OSError
        ):  # its processes take a moment to die: then the next start removes it
            inner.rmdir()


class ControlGroups:
    """The groups of one sandbox, all with the same limits; made when they are first needed, removed by `close`."""

    def __init__(self, hierarchies: Iterable[Hierarchy], limits: GroupLimits) -> None:
        asked = limits.controllers()
        self._limits = limits
        self._hierarchies = tuple(one for one in hierarchies if one.controllers & asked)
        self._name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        self._free: list[ControlGroup] = []
        self._made: list[ControlGroup] = []
        self._count = itertools.count()
        self.controllers = asked & frozenset().union(*(one.controllers for one in self._hierarchies))

    def take(self) -> ControlGroup:
        """Give an empty group whose counters start now.

        Raises:
            OSError: it cannot be made or limited.
        """
        group = self._free.pop() if self._free else self._new(str(next(self._count)))
        group.reset()
        return group

    def give_back(self, group: ControlGroup) -> None:
        """Keep a group for the next trial; one that could not be emptied is not used again."""
        if not group.processes() and (group.n_counted() or group.memory_kept() > _NEGLIGIBLE_BYTES):
            return  # what the dead still hold counts against the limit: another trial must not pay for it
        if group.processes():
            _log.warning("processes of a trial could not be ended; they are in %s", group.folders[0])
        else:
            self._free.append(group)

    def close(self) -> None:
        """Remove all groups; what cannot be ended now is left to the next start of an evaluator."""
        for group in self._made:
            group.kill()
            group.remove()
        self._free.clear()
        self._made.clear()
        for hierarchy in self._hierarchies:
            with contextlib.suppress(OSError):  # never made, or something in it cannot be ended
                (hierarchy.folder / self._name).rmdir()

    def _new(self, name: str) -> ControlGroup:
        places: list[tuple[Hierarchy, Path]] = []
        for hierarchy in self._hierarchies:
            above = hierarchy.folder / self._name
            if not above.is_dir():
                above.mkdir()
            if hierarchy.version > 1:
                _hand_on(above, hierarchy.controllers & self.controllers)
            places.append((hierarchy, above / name))
        for hierarchy, folder in places:
            folder.mkdir()
            for file, value in _settings(hierarchy, self._limits):
                if file not in _WHERE_THERE_IS_SWAP or (folder / file).exists():
                    (folder / file).write_text(value, encoding="ascii")
        self._made.append(ControlGroup(tuple(folder for _, folder in places)))
        return self._made[-1]


def _hand_on(folder: Path, controllers: frozenset[str]) -> None:
    text = " ".join(f"+{name}" for name in sorted(controllers))
    (folder / "cgroup.subtree_control").write_text(text, encoding="ascii")


_WHERE_THERE_IS_SWAP = ("memory.memsw.limit_in_bytes", "memory.swap.max")


def _settings(hierarchy: Hierarchy, limits: GroupLimits) -> Iterator[tuple[str, str]]:
    """Give what is written to which file, in an order the kernel accepts."""
    is_legacy = hierarchy.version == 1
    if limits.memory_bytes is not None and "memory" in hierarchy.controllers:
        memory = str(limits.memory_bytes)
        yield "memory.limit_in_bytes" if is_legacy else "memory.max", memory
        yield ("memory.memsw.limit_in_bytes", memory) if is_legacy else ("memory.swap.max", "0")
    if limits.processes is not None and "pids" in hierarchy.controllers:
        yield "pids.max", str(limits.processes)
    if limits.cpus is not None and "cpu" in hierarchy.controllers:
        quota_us = max(1000, round(limits.cpus * _CPU_PERIOD_US))  # the kernel takes no less
        if is_legacy:
            yield "cpu.cfs_period_us", str(_CPU_PERIOD_US)
            yield "cpu.cfs_quota_us", str(quota_us)
        else:
            yield "cpu.max", f"{quota_us} {_CPU_PERIOD_US}"


class ControlGroup:
    """One group: a folder in each hierarchy. Who writes 0 to each of `entrances` puts itself into it."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = folders
        self.entrances = tuple(_entrance(folder) for folder in folders)
        self._killer = next((file for folder in folders if (file := folder / "cgroup.kill").exists()), None)
        self._before: Mapping[str, int] = {}

    def processes(self) -> list[int]:
        """Give the ids of who is in it."""
        return _processes(self.folders[0] / "cgroup.procs")

    def n_counted(self) -> int:
        """Give how many processes the kernel counts in it, the dead included that nobody has waited for."""
        return next((int(word) for folder in self.folders for word in _words(folder / "pids.current")), 0)

    def memory_kept(self) -> int:
        """Give how much memory is in it that the kernel cannot take back: data of processes, files in memory."""
        found = 0
        for folder in self.folders:
            words = _words(folder / "memory.stat")
            found += sum(int(words[words.index(name) + 1]) for name in _KEPT if name in words)
        return found

    def kill(self) -> bool:
        """End whoever is in it; true if nobody was."""
        processes = self.processes()
        if processes and self._killer is not None:
            self._killer.write_text("1", encoding="ascii")
        elif processes:
            _end(processes)
        return not processes

    def reset(self) -> None:
        """Count from now on: the kernel's own counters cannot be set back."""
        self._before = self._counted()

    @property
    def exhausted(self) -> str | None:
        """What ran out since the reset: `memory` if processes were ended for it, `processes` if some were refused."""
        counted = self._counted()
        for name, resource in (("oom_kill", MEMORY), ("max", PROCESSES)):
            if counted.get(name, 0) > self._before.get(name, 0):
                return resource
        return None

    def remove(self) -> None:
        """Take the group away, if it is empty."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _counted(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for folder in self.folders:
            for file, name in _COUNTERS:
                words = _words(folder / file)
                found |= {name: int(words[words.index(name) + 1])} if name in words else {}
        return found


def _entrance(folder: Path) -> Path:
    # Moving all threads of a process takes a lock of the whole machine, often 10 ms. A shell has but one thread,
    # and to move the very thread that writes, which only version 1 allows across groups, needs no lock.
    single = folder / "tasks"
    return single if single.exists() else folder / "cgroup.procs"


_KEPT = ("anon", "rss", "shmem")
"""In `memory.stat`: version 2 calls `anon` what version 1 calls `rss`. A cache of files is given back on demand."""

_COUNTERS = (("memory.oom_control", "oom_kill"), ("memory.events", "oom_kill"), ("pids.events", "max"))


def _processes(file: Path) -> list[int]:
    # 0 stands for a process of another namespace of ids: to kill 0 would be to kill our own group.
    return [pid for word in _words(file) if (pid := int(word)) not in {0, os.getpid()}]


def _end(processes: Iterable[int]) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _words(file: Path) -> list[str]:
    try:
        return read_bytes(str(file)).decode("ascii").split()
    except OSError:
        return []
