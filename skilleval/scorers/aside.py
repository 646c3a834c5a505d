"""Work in a thread that nobody waits for at the end: Ctrl-C need not see out what cannot be ended."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


async def aside(work: Callable[[], _Result]) -> _Result:
    """Do some work beside the event loop. Once cancelled it goes on, but nobody hears what came of it."""
    outcome = _Outcome[_Result]()

    def do() -> None:
        with outcome:
            outcome.result = work()

    threading.Thread(target=do, name="scorer", daemon=True).start()
    await asyncio.wrap_future(outcome.over)
    return outcome.result


class _Outcome(Generic[_Result]):
    """What came of it: a result, or whatever was raised."""

    result: _Result

    def __init__(self) -> None:
        self.over: Future[None] = Future()

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Tell that it is over, if anybody still wants to know."""
        if not self.over.set_running_or_notify_cancel():
            return True
        if error is None:
            self.over.set_result(None)
        else:
            self.over.set_exception(error)
        return True
