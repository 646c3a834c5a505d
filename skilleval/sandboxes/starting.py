"""Starts a program, and ends it with everything it started."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import time
from collections.abc import Coroutine
from io import FileIO
from typing import cast

from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.exits import one_ended
from skilleval.sandboxes.launch import Enclosure, Launch
from skilleval.sandboxes.trees import TOKEN_NAME, Tree

_PATIENCE_S = 5.0  # a process stuck in the kernel must not hold up the run for ever
_PAUSE_S = 0.001  # between two looks at what is not over yet, where nothing tells of its end
_log = logging.getLogger(__name__)


class Started:
    """A running program with our ends of its pipes. Until `end` has returned, something of it may be alive."""

    def __init__(
        self, process: subprocess.Popen[bytes], tree: Tree, enclosure: Enclosure, spawn_ms: float
    ) -> None:
        self.process = process
        self.spawn_ms = spawn_ms
        # Unbuffered pipes are FileIO objects, which the type of Popen cannot say.
        self.stdin = cast("FileIO", process.stdin)
        self.stdout = cast("FileIO", process.stdout)
        self.stderr = cast("FileIO", process.stderr)
        self._tree = tree
        self._enclosure = enclosure

    async def end(self) -> None:
        """End the program and all it started; a cancellation in the meantime takes effect afterwards."""
        if not self._is_over():
            await _uninterrupted(self._ended())
        self._enclosure.close()

    def verdict(self, completed: Completed) -> Completed:
        """Say how the program itself ended, which what encloses it may know better; asked after `end`."""
        return self._enclosure.verdict(completed)

    async def _ended(self) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            lingering = self._tree.lingering()
            if lingering is not None:
                await one_ended(lingering, at_most_s=_PAUSE_S)
            if self._is_over():
                return
            if time.monotonic() > deadline:
                _log.warning("what a trial started could not be ended within %g s", _PATIENCE_S)
                self._tree.give_up()
                return

    def _is_over(self) -> bool:
        """End what can be seen now; true if nothing was left."""
        # The enclosure first: what it ends starts nothing new, and its orphans come to us.
        is_empty = self._enclosure.kill()
        return is_empty and self._tree.kill(looks_deep=not self._enclosure.is_complete)


def start(launch: Launch) -> Started | Completed:
    """Start a program; where the system refuses, say why."""
    tree = Tree()
    began = time.perf_counter()
    try:
        process = _popen(launch, tree.token)
    except (OSError, ValueError) as error:
        tree.close()
        launch.enclosure.close()
        reason = error.strerror if isinstance(error, OSError) else error
        return not_started("not_started", f"{launch.argv[0]}: {reason}")
    tree.leader = process
    launch.enclosure.started()
    return Started(process, tree, launch.enclosure, (time.perf_counter() - began) * 1000)


def not_started(kind: str, reason: str) -> Completed:
    """Say that a program never ran: the cause in one word, a colon, the reason in one sentence."""
    return Completed(
        exit_code=None,
        stdout=b"",
        stderr=b"",
        duration_ms=0.0,
        spawn_ms=0.0,
        not_started=f"{kind}: {reason}",
    )


def unknown_program(command: Command) -> Completed:
    """Say that the first word of a command names no program."""
    word = command.argv[0]
    if "/" in word:
        return not_started("program_missing", f"{word} is not a file in {command.folder}")
    return not_started("program_not_found", f"{word} is not a program on the PATH")


def _popen(launch: Launch, token: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - running what the user names is the purpose; no shell takes part
        launch.argv,
        cwd=launch.folder,
        env={**launch.env, TOKEN_NAME: token},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=launch.descriptors,
        bufsize=0,
        start_new_session=True,
    )


async def _uninterrupted(step: Coroutine[None, None, None]) -> None:
    """Take a step to its end; a cancellation in the meantime takes effect afterwards."""
    task = asyncio.ensure_future(step)
    interruption: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            interruption = error
    if interruption is not None:
        raise interruption
    task.result()
