"""Encloses programs without namespaces: Landlock over files, a filter over kernel calls, a temporary folder each.

It is weaker than bubblewrap, and says where: other processes can be seen, temporary files have no limit together.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, cached_property, partial
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
from skilleval.sandboxes.confinement import Answers, Confinement
from skilleval.sandboxes.landlock import FILES_SINCE, build_ruleset, landlock_abi
from skilleval.sandboxes.launch import Launch
from skilleval.sandboxes.mechanism import Hold, Purpose, Start
from skilleval.sandboxes.procfs import is_alive
from skilleval.sandboxes.requirements import Gap
from skilleval.sandboxes.resources import as_told_by_shells
from skilleval.sandboxes.seccomp import filter_program
from skilleval.sandboxes.starting import not_started
from skilleval.sandboxes.view import SETTINGS, SYSTEM

_PUBLIC_SETTINGS = tuple(map(Path, ("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf")))
_RESOLVER = Path("/etc/resolv.conf")
_PREFIX = "skilleval-tmp-"
_filter = partial(filter_program, has_namespaces=False)


class FallbackMechanism:
    """Starts each program through a launcher that takes rights away from itself before it becomes the program.

    `why` is the gap that made somebody fall back: what would be there if bubblewrap were.
    """

    name = "fallback"
    parts_network = False
    temporary: Mapping[str, str] = {}

    def __init__(self, *, shares_network: bool, why: Gap) -> None:
        self._shares_network = shares_network
        self._why = why
        self._abi = landlock_abi()
        # Landlock does not keep a program from unix sockets of others, so without network there are no sockets at all.
        self._filter = _filter(allow_network=shares_network, allow_unix_sockets=shares_network)
        self._server_filter = _filter(allow_network=True, allow_unix_sockets=shares_network)

    @cached_property
    def guarantees(self) -> frozenset[str]:
        """What it enforces by itself."""
        chosen = {NETWORK} if self._shares_network else set()
        everything = {ENVIRONMENT, FILESYSTEM, NETWORK, SYSTEM_CALLS} - chosen
        return frozenset(everything - self.gaps.keys())

    @cached_property
    def gaps(self) -> Mapping[str, Gap]:
        """Why it does not enforce the others."""
        found = {PROCESSES_END: self._why, TMP_SIZE: self._why}
        if self._abi < FILES_SINCE:
            found |= {FILESYSTEM: self._why, ENVIRONMENT: self._why}
        if self._filter is None:
            found |= {NETWORK: self._why, SYSTEM_CALLS: self._why}
        return found

    def launch(self, start: Start) -> Launch | Completed:
        """Say how the program is started; its temporary files lie in a folder that is removed with it."""
        view = start.view
        changeable = next((path for path in view.covered if any(map(path.is_relative_to, view.writes))), None)
        if changeable is not None:
            start.hold.close()
            reason = f"only bubblewrap can hide {changeable}, which lies inside what may be changed"
            return not_started("sandbox_failed", reason)
        _sweep(os.getpid())
        answers = Answers()
        try:
            temporary = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        except OSError:
            answers.close()
            raise
        serves = (
            start.purpose is Purpose.SERVER
        )  # who listens needs sockets, and there is no network but ours
        environment = {"HOME": str(temporary), "TMPDIR": str(temporary), **start.environment}
        ruleset = build_ruleset(
            abi=self._abi,
            reads=(*SYSTEM, *SETTINGS, *_PUBLIC_SETTINGS, *self._resolver(), *view.reads),
            writes=(temporary, *view.writes),
            allow_network=self._shares_network or serves,
            hides=view.covered,
        )
        confinement = Confinement(
            ruleset=ruleset, filter_program=self._server_filter if serves else self._filter
        )
        confined = confinement.command_line(start.argv, env=environment, answers=answers.descriptor)
        return Launch(
            argv=(*start.hold.words(complaints=answers.descriptor), *confined),
            folder=start.folder,
            env=environment,
            descriptors=(answers.descriptor,),
            enclosure=_Enclosure(start.hold, answers, temporary),
        )

    def close(self) -> None:
        """Nothing is held between programs."""

    def _resolver(self) -> tuple[Path, ...]:
        return (_RESOLVER,) if self._shares_network else ()


class _Enclosure:
    """A confined program and its folder for temporary files."""

    def __init__(self, hold: Hold, answers: Answers, temporary: Path) -> None:
        self._hold = hold
        self._answers = answers
        self._temporary = temporary
        self.is_complete = hold.has_group

    def started(self) -> None:
        """The launcher has its own copy of the pipe."""
        self._answers.started()

    def kill(self) -> bool:
        """End whatever is inside."""
        return self._hold.kill()

    def close(self) -> None:
        """Hear the answer; remove the temporary files; give back the group."""
        self._answers.close()
        _remove(self._temporary)
        self._hold.close()

    def verdict(self, completed: Completed) -> Completed:
        """Say how the program ended; where it never ran, say why."""
        if completed.exit_code is not None:
            completed = replace(completed, exit_code=as_told_by_shells(completed.exit_code))
        return self._answers.verdict(self._hold.judged(completed))


@cache
def _sweep(_pid: int) -> None:
    """Remove, once, what evaluators of ours left behind that are dead, e.g. after `kill -9`."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):  # another evaluator was faster
            status = folder.lstat()
            is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
            if is_ours and pid.isdecimal() and not is_alive(int(pid)):
                _remove(folder)


def _remove(folder: Path) -> None:
    # A program may have taken its own rights to a folder away; links are not followed.
    for place, names, _ in os.walk(folder):
        for name in names:
            inner = Path(place, name)
            if not inner.is_symlink():
                with contextlib.suppress(OSError):
                    inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
