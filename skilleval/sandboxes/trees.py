"""Ends everything a trial has started, also what tried to slip away.

A trial's program leads a session and process group of its own, and its environment holds a token. On Linux this
process adopts orphans (`PR_SET_CHILD_SUBREAPER`): whatever a trial starts is a descendant of its leader or, once
its parents are dead, a child of ours. So nobody has to search all of `/proc` in the normal case: a trial that
leaves no unknown child behind has left nothing. Elsewhere only the process group is ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterable

from skilleval.sandboxes.exits import has_ended
from skilleval.sandboxes.procfs import (
    Process,
    descendants,
    read_own_children,
    read_process,
    read_processes,
    read_variable,
)

TOKEN_NAME = "SKILLEVAL_TRIAL"  # noqa: S105 - the name of a variable that marks processes; no secret
"""The variable that marks the processes of a trial."""

_PR_SET_CHILD_SUBREAPER = 36
_ON_LINUX = sys.platform == "linux"


class Tree:
    """The processes of one trial. Open from before the start of its leader until all are ended.

    While a tree is open, the others spare what may belong to it.
    """

    def __init__(self) -> None:
        self.token = secrets.token_hex(8)
        self.leader: subprocess.Popen[bytes] | None = None
        self._condemned: set[int] = set()
        self._before: frozenset[int] = frozenset()
        if _ON_LINUX:
            _adopt_orphans(os.getpid())
            self._before = frozenset(read_own_children())
        _open_trees[self.token] = self

    def close(self) -> None:
        """Claim nothing any more."""
        _open_trees.pop(self.token, None)

    def kill(self, *, looks_deep: bool = True) -> bool:
        """End what can be seen now; true if nothing was left: then the leader is reaped and the tree closed.

        What encloses a program may end the relatives of strays itself: then there is no need to look for them.
        """
        leader = self.leader
        if leader is None:
            return True
        ended, strays = has_ended(leader), self._living_strays()
        if ended and not strays:
            _signal_group(leader)
            leader.wait()
            self.close()  # in the same breath: a tree that looks no more must not make others spare its orphans
            return True
        # Relatives are looked up while their parents live: an orphan may carry no mark of its trial.
        processes = read_processes() if _ON_LINUX and looks_deep else ()
        self._condemned |= descendants([leader.pid, *strays], processes)
        _signal_group(leader)
        _kill(self._condemned - {leader.pid})
        return False

    def lingering(self) -> list[int] | None:
        """Give the living children of ours that lead no tree: the last of this one may be among them, soon to end.

        Null where some had ended meanwhile; they are buried, so that nobody waits for them again.
        """
        orphans = _orphans()
        if _reap(orphan.pid for orphan in orphans if orphan.is_zombie):
            return None
        return [orphan.pid for orphan in orphans if not orphan.is_zombie]

    def give_up(self) -> None:
        """Look no more: a process that is stuck in the kernel must not hold up the run for ever."""
        if self.leader is not None:
            self.leader.poll()
        self.close()

    def owns(self, process: Process) -> bool:
        """Say whether a child of ours that leads no open tree was left behind by this one."""
        token = read_variable(process.pid, TOKEN_NAME)
        if token is not None:
            return token == self.token or token not in _open_trees
        others = [tree for tree in tuple(_open_trees.values()) if tree is not self]
        return self.may_own(process) and not any(tree.may_own(process) for tree in others)

    def may_own(self, process: Process) -> bool:
        """Say whether a child of ours without a token can stem from this tree: it was not there before."""
        return process.pid not in self._before

    def _living_strays(self) -> list[int]:
        """Reap who is dead, and look again until nobody is: who dies leaves his children to us."""
        while True:
            orphans = _orphans()
            if not _reap(orphan.pid for orphan in orphans if orphan.is_zombie):
                return [one.pid for one in orphans if one.pid in self._condemned or self.owns(one)]


def _orphans() -> list[Process]:
    """Give the children of ours that lead no open tree and are not of our own session, which nobody can enter.

    The dead among them are nobody's: whoever's trial they stem from, to bury them harms no other.
    """
    if not _ON_LINUX:
        return []
    own = os.getsid(0)
    leaders = {tree.leader.pid for tree in tuple(_open_trees.values()) if tree.leader is not None}
    unknown = [pid for pid in read_own_children() if pid not in leaders]
    found = [process for pid in unknown if (process := read_process(pid)) is not None]
    return [process for process in found if process.session != own]


_open_trees: dict[str, Tree] = {}
# One a process, not one a sandbox: all sandboxes of a process share its children.


@functools.cache
def _adopt_orphans(_pid: int) -> None:
    # Once a process: a fork does not inherit the role. Where it fails, the process group is all that is ended.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _signal_group(leader: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader.pid, signal.SIGKILL)


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _reap(pids: Iterable[int]) -> int:
    """Reap who can be, and say how many were: a dead process whose threads live on cannot be reaped yet."""
    # Never waitpid(-1): it would take the exit codes of children that others wait for.
    n_reaped = 0
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            n_reaped += os.waitpid(pid, os.WNOHANG)[0] != 0
    return n_reaped
