"""Work that Ctrl-C and a polite kill can end early without losing what is done."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any

log = logging.getLogger(__name__)

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopper:
    """Ends, from another thread, work that hears no signals itself, as Ctrl-C would."""

    def __init__(self) -> None:
        self._end: Callable[[], None] | None = None
        self._is_asked = False
        self._lock = threading.Lock()

    def stop(self) -> None:
        """End the work early; what is finished is kept."""
        with self._lock:
            self._is_asked = True
            if self._end is not None:
                self._end()

    def attach(self, loop: asyncio.AbstractEventLoop, task: asyncio.Future[None]) -> None:
        """Learn which work to end."""
        with self._lock:
            self._end = lambda: _end(loop, task)
            if self._is_asked:
                self._end()

    def detach(self) -> None:
        """Forget work that is done."""
        with self._lock:
            self._end = None


def _end(loop: asyncio.AbstractEventLoop, task: asyncio.Future[None]) -> None:
    loop.call_soon_threadsafe(task.cancel)


STOPPER: ContextVar[Stopper | None] = ContextVar("STOPPER", default=None)
"""Who may stop the work of this thread, where it is not the main one."""


def until_stopped(work: Coroutine[Any, Any, None]) -> bool:
    """Do the work; true if Ctrl-C or a polite kill ended it early. Running trials are ended with it.

    Raises:
        KeyboardInterrupt: the user asked twice: then not even a report is made.
    """
    presses: list[signal.Signals] = []
    try:
        asyncio.run(_stoppable(work, presses))
    except (KeyboardInterrupt, asyncio.CancelledError):
        if len(presses) > 1:
            raise KeyboardInterrupt from None  # further signals stay unheard: they would only spoil the exit code
        if presses:  # only the main thread hears signals
            _hear_again()
        return True
    return False


async def _stoppable(work: Coroutine[Any, Any, None], presses: list[signal.Signals]) -> None:
    """Do the work until it is done or a signal comes; more signals wait until all processes are ended."""
    task = asyncio.ensure_future(work)
    if threading.current_thread() is not threading.main_thread():
        return await _stoppable_elsewhere(task)
    loop = asyncio.get_running_loop()

    def stop(which: signal.Signals) -> None:
        presses.append(which)
        if len(presses) == 1:
            log.warning(
                "stopping: running skills are ended, what is finished is kept; once more skips the report"
            )
            task.cancel()

    for which in _SIGNALS:
        loop.add_signal_handler(which, stop, which)
    try:
        return await task
    finally:
        _hear_no_more(loop, after_stop=bool(presses))


async def _stoppable_elsewhere(task: asyncio.Future[None]) -> None:
    """Do the work until it is done, or until whoever waits for this thread stops it."""
    stopper = STOPPER.get()
    if stopper is None:
        return await task
    stopper.attach(asyncio.get_running_loop(), task)
    try:
        return await task
    finally:
        stopper.detach()


def _hear_no_more(loop: asyncio.AbstractEventLoop, *, after_stop: bool) -> None:
    """Take our handlers off; after a stop, what is pressed while the loop closes goes nowhere instead of into it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    for which in _SIGNALS:
        loop.remove_signal_handler(which)
        if after_stop:
            signal.signal(which, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _hear_again() -> None:
    """Let signals mean again what they mean elsewhere."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for which in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(which, signal.SIG_DFL)
