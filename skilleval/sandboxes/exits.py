"""Notices that a program has ended, without reaping it: until it is reaped, its id belongs to nobody else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable

_POLL_S = 0.005


def has_ended(program: subprocess.Popen[bytes]) -> bool:
    """Say whether a program is dead; it stays unreaped where the system can do that."""
    if program.returncode is not None:
        return True
    if sys.platform != "linux":
        return program.poll() is not None
    return os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def open_descriptor(program: subprocess.Popen[bytes]) -> int | None:
    """Open a descriptor that becomes readable when the program ends; null where the system has none."""
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(program.pid)
    except OSError:  # an old kernel, or a filter around us that forbids the call
        return None


async def one_ended(pids: Iterable[int], *, at_most_s: float) -> None:
    """Wait until one of these children has ended, which is often sooner than a timer of the event loop can tell."""
    loop = asyncio.get_running_loop()
    news = asyncio.Event()
    descriptors: list[int] = []
    timer = loop.call_later(at_most_s, news.set)
    try:
        for pid in pids if sys.platform == "linux" else ():
            with contextlib.suppress(OSError):  # it is gone, or there are no such descriptors
                descriptors.append(os.pidfd_open(pid))
                loop.add_reader(descriptors[-1], news.set)
        await news.wait()
    finally:
        timer.cancel()
        for descriptor in descriptors:
            loop.remove_reader(descriptor)
            os.close(descriptor)


class ExitWatch:
    """Calls `on_exit` in the event loop once the program has ended: by its descriptor, else by polling."""

    def __init__(
        self, program: subprocess.Popen[bytes], on_exit: Callable[[], None], *, descriptor: int | None
    ) -> None:
        self._program = program
        self._on_exit = on_exit
        self._descriptor = descriptor
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Begin to watch."""
        if self._descriptor is None:
            self._poll()
        else:
            self._loop.add_reader(self._descriptor, self._on_exit)

    def close(self) -> None:
        """Stop watching; closes the descriptor."""
        if self._timer is not None:
            self._timer.cancel()
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None

    def _poll(self) -> None:
        if has_ended(self._program):
            self._on_exit()
        else:
            self._timer = self._loop.call_later(_POLL_S, self._poll)
