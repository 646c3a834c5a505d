"""Steps that must not be left half done: a container that is being made is either made or gone, never forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


async def settled(step: Coroutine[Any, Any, _T]) -> _T:
    """Take a step to its end; a cancellation in the meantime takes effect afterwards."""
    task = asyncio.ensure_future(step)
    interruption: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            interruption = error
    if interruption is not None:
        task.exception()
        raise interruption
    return task.result()
