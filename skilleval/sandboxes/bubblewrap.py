"""Encloses programs with bubblewrap: namespaces of their own, a file system of their own, a filter for kernel calls."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from skilleval.sandboxes.base import (
    ENVIRONMENT,
    FILESYSTEM,
    NETWORK,
    PROCESSES_END,
    SYSTEM_CALLS,
    TMP_SIZE,
    Completed,
)
from skilleval.sandboxes.launch import Launch
from skilleval.sandboxes.mechanism import Hold, Start, StatusPipe
from skilleval.sandboxes.requirements import Gap
from skilleval.sandboxes.resources import Resources, as_told_by_shells
from skilleval.sandboxes.seccomp import filter_program
from skilleval.sandboxes.view import View
from skilleval.sandboxes.walls import HOME, TMP, Walls, arguments, copied_files, made_up_files

OWN_PROCESSES = 2
"""How many processes of bubblewrap itself live in the group of a trial."""

_INSTALL = "install bubblewrap, e.g. apt-get install bubblewrap"
_ALLOW = (
    "let bubblewrap make user namespaces, e.g. sysctl kernel.apparmor_restrict_unprivileged_userns=0, "
    "or allow them in the settings of the container around it"
)
_UPDATE = "install bubblewrap 0.8 or newer"
_CANNOT_RUN = "bwrap: execvp "
_QUESTION_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubblewrap:
    """The program as it is installed; old versions cannot limit the size of `/tmp` or forbid user namespaces."""

    program: Path
    limits_tmp: bool
    forbids_namespaces: bool


def find_bubblewrap(path: str | None = None) -> Bubblewrap | Gap:
    """Look for bubblewrap on the PATH, ask what it can do, and try it once; say why it cannot be used, if so."""
    found = shutil.which("bwrap", path=path)
    return Gap(reason="bubblewrap is not installed", fix=_INSTALL) if found is None else _tried(found)


@cache
def _tried(path: str) -> Bubblewrap | Gap:
    asked = _output(path, "--help")
    found = Bubblewrap(
        program=Path(path).absolute(),
        limits_tmp="--size " in asked,
        forbids_namespaces="--disable-userns" in asked,
    )
    mechanism = BubblewrapMechanism(found, shares_network=False, tmp_bytes=1 << 20)
    try:
        complaint = _trial(mechanism)
    finally:
        mechanism.close()
    return Gap(reason=f"bubblewrap does not work here: {complaint}", fix=_ALLOW) if complaint else found


def _output(*argv: str) -> str:
    try:
        asked = subprocess.run(  # noqa: S603 - a known program with a fixed question
            argv, capture_output=True, text=True, timeout=_QUESTION_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout + asked.stderr


def _trial(mechanism: BubblewrapMechanism) -> str:
    """Run a harmless program within the walls that every program will have; give what went wrong."""
    with tempfile.TemporaryDirectory(prefix="skilleval-try-") as folder:
        start = Start(
            argv=("/bin/sh", "-c", ":"),
            folder=Path(folder),
            environment={},
            view=View(reads=(Path(folder),), writes=(), covered=()),
            hold=Hold(_FOR_THE_TRIAL, {}, None),
        )
        launch = mechanism.launch(start)
        try:
            subprocess.run(  # noqa: S603 - a fixed command line of ours
                launch.argv,
                env=dict(launch.env),
                pass_fds=launch.descriptors,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_QUESTION_S,
                check=True,
                start_new_session=True,  # what it leaves behind is then buried like any orphan
            )
        except subprocess.CalledProcessError as error:
            return str(error.stderr).strip().rpartition("\n")[2] or f"exit code {error.returncode}"
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        finally:
            launch.enclosure.close()
    return ""


_FOR_THE_TRIAL = Resources(
    memory_mb=256, cpus=None, cpu_seconds=None, processes=16, file_size_mb=1, open_files=64, tmp_mb=1
)


class BubblewrapMechanism:
    """Starts each program within the same walls, and a view of its own."""

    name = "bubblewrap"
    parts_network = True
    temporary: Mapping[str, str] = {"HOME": HOME, "TMPDIR": TMP}

    def __init__(self, found: Bubblewrap, *, shares_network: bool, tmp_bytes: int) -> None:
        self._found = found
        self._shares_network = shares_network
        self._tmp_bytes = tmp_bytes if found.limits_tmp else None
        self._program = filter_program(allow_network=True)  # the network is kept away by a namespace
        self._files: dict[str, int] = {}
        self._filter: int | None = None

    @property
    def guarantees(self) -> frozenset[str]:
        """What it enforces by itself."""
        always = {ENVIRONMENT, PROCESSES_END, FILESYSTEM}
        network = set() if self._shares_network else {NETWORK}
        return frozenset(always | network) | ({SYSTEM_CALLS, TMP_SIZE} - self.gaps.keys())

    @property
    def gaps(self) -> Mapping[str, Gap]:
        """Why it does not enforce the others."""
        found: dict[str, Gap] = {}
        if self._program is None:
            reason = f"the numbers of kernel calls are not known for {os.uname().machine}"
            found[SYSTEM_CALLS] = Gap(reason=reason, fix="use x86_64 or aarch64")
        if self._tmp_bytes is None:
            found[TMP_SIZE] = Gap(reason="this bubblewrap cannot limit /tmp", fix=_UPDATE)
        return found

    def launch(self, start: Start) -> Launch:
        """Say how the program is started within the walls; the program inherits none of the descriptors."""
        status = StatusPipe()
        opened: list[int] = []
        try:
            words = arguments(
                self._walls(opened),
                start.view,
                folder=start.folder,
                environment=start.environment,
                status=status.descriptor,
            )
            # Values of variables must not stand in a command line, which everybody on the machine can read.
            opened.append(_temporary("arguments", "\0".join(words).encode("utf-8", "surrogateescape")))
        except OSError:
            _close(opened)
            status.close()
            raise
        bubblewrap = (str(self._found.program), "--args", str(opened[-1]), "--", *start.argv)
        return Launch(
            argv=(*start.hold.words(complaints=status.descriptor), *bubblewrap),
            folder=start.folder,
            env={},
            descriptors=(status.descriptor, *opened),
            enclosure=_Enclosure(start.hold, status, opened),
        )

    def close(self) -> None:
        """Give back the files that every program is shown."""
        _close([*self._files.values(), *([] if self._filter is None else [self._filter])])
        self._files, self._filter = {}, None

    def _walls(self, opened: list[int]) -> Walls:
        """Open every file anew: a descriptor that others read as well would be at its end already."""

        def fresh(kept: int) -> int:
            opened.append(os.open(f"/proc/self/fd/{kept}", os.O_RDONLY | os.O_CLOEXEC))
            return opened[-1]

        self._keep_files()
        return Walls(
            shares_network=self._shares_network,
            tmp_bytes=self._tmp_bytes,
            # The filter does that too, at no cost; where there is none, this has to.
            forbids_namespaces=self._filter is None and self._found.forbids_namespaces,
            files={path: fresh(kept) for path, kept in self._files.items()},
            filter=None if self._filter is None else fresh(self._filter),
        )

    def _keep_files(self) -> None:
        if self._files:
            return
        files = {**copied_files(), **made_up_files(shares_network=self._shares_network)}
        for path, content in files.items():
            self._files[path] = _kept(path, content)
        self._filter = None if self._program is None else _kept("filter", self._program)


class _Enclosure:
    """A program within the walls: how it ended is what bubblewrap reports, not how bubblewrap itself ended."""

    is_complete = True  # a namespace of process ids ends with its first process, which ends with its parent

    def __init__(self, hold: Hold, status: StatusPipe, handed_over: list[int]) -> None:
        self._hold = hold
        self._status = status
        self._handed_over = handed_over

    def started(self) -> None:
        """Bubblewrap has its own copies."""
        self._status.started()
        _close(self._handed_over)

    def kill(self) -> bool:
        """End whatever is inside."""
        return self._hold.kill()

    def close(self) -> None:
        """Read the report; give back the group."""
        self.started()
        self._status.close()
        self._hold.close()

    def verdict(self, completed: Completed) -> Completed:
        """Say how the program ended; where it never ran, say why."""
        code = _reported_exit(self._status.text)
        if code is not None:
            return self._hold.judged(replace(completed, exit_code=as_told_by_shells(code)))
        is_killed = completed.timed_out or completed.output_limit or (completed.exit_code or 0) < 0
        return self._hold.judged(completed) if is_killed else _never_ran(completed)


def _reported_exit(text: str) -> int | None:
    """Find the exit code; bubblewrap reports it only of a program that it could start."""
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            report = json.loads(line)
            if isinstance(report, dict) and isinstance(report.get("exit-code"), int):
                return int(report["exit-code"])
    return None


def _never_ran(completed: Completed) -> Completed:
    last = completed.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if last.startswith(_CANNOT_RUN):
        return replace(
            completed, exit_code=None, not_started=f"not_started: {last.removeprefix(_CANNOT_RUN)}"
        )
    reason = last or f"exit code {completed.exit_code}"
    return replace(completed, exit_code=None, not_started=f"sandbox_failed: {reason}")


def _kept(name: str, content: bytes) -> int:
    descriptor = os.memfd_create(f"skilleval-{Path(name).name}", os.MFD_CLOEXEC)
    os.write(descriptor, content)
    return descriptor


def _temporary(name: str, content: bytes) -> int:
    descriptor = _kept(name, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
    descriptors.clear()
