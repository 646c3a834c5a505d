"""The program that calls a custom scorer: request on stdin, its judgement as one JSON value on stdout.

It is started by its path, in a process of its own, and imports nothing of skilleval. The scorer runs in a child of it:
whatever that prints, and whatever it starts prints, comes to us and not to skilleval. So it cannot be taken for the
judgement, and of any amount only the end is handed on, to stderr.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import json
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

_CHUNK = 65_536
_KEPT = 65_536
_PATIENCE_S = 0.2  # for what is still in the pipe; who holds it open after the scorer holds up nobody


def main() -> None:
    """Have the scorer judge, hand on the end of what it printed, and end as it did."""
    printed, pen = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(printed)
        _judge(pen)
    os.close(pen)
    tail = bytearray()
    reader = threading.Thread(target=_keep_end, args=(printed, tail), daemon=True)
    reader.start()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    reader.join(_PATIENCE_S)
    os.write(2, bytes(tail))
    if status < 0:
        with suppress(OSError):  # SIGKILL has no other meaning
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _keep_end(printed: int, tail: bytearray) -> None:
    while chunk := os.read(printed, _CHUNK):
        tail += chunk
        del tail[:-_KEPT]


def _judge(pen: int) -> None:
    """Judge one output and end at once, whatever threads the scorer has left running."""
    judgements = os.dup(1)
    os.dup2(pen, 1)
    os.dup2(pen, 2)
    os.close(pen)
    request = json.loads(sys.stdin.buffer.read())
    judge = _function(request)
    judgement = judge(request["output"], request["expected"], request["input"])
    if inspect.isawaitable(judgement):
        judgement = asyncio.run(_awaited(judgement))
    text = json.dumps(judgement)
    with os.fdopen(judgements, "w", encoding="utf-8") as stdout:
        stdout.write(text)
    os._exit(0)


def _function(request: dict[str, Any]) -> Callable[[Any, Any, Any], Any]:
    sys.path.insert(0, request["folder"])
    place, name = request["place"], request["function"]
    module = _from_file(place) if request["is_file"] else importlib.import_module(place)
    function = getattr(module, name, None)
    if not callable(function):
        sys.exit(f"{place} has no function {name}")
    found: Callable[[Any, Any, Any], Any] = function
    return found


def _from_file(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("custom_scorer", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


async def _awaited(judgement: Awaitable[Any]) -> Any:
    return await judgement


if __name__ == "__main__":
    main()
