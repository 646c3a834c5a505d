"""Calls one function of a skill: run in the skill's folder as `python python_child.py MODULE:FUNCTION`.

It reads one JSON-RPC request from stdin and writes one reply. Only the reply reaches stdout: what the skill prints,
also from C code and from programs it starts, goes to stderr.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from contextlib import suppress
from functools import reduce
from types import TracebackType
from typing import Any, NoReturn

EXCEPTION = -32000
"""The code of an error reply that says the function raised."""


def main() -> NoReturn:
    """Read, call, reply. The call is over when the function returns, whatever it left running."""
    channel = os.dup(1)
    os.dup2(2, 1)

    def broken(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        traceback.print_exception(kind, error, trace)
        end(channel, {"error": {"code": EXCEPTION, "message": sentence(error)}})

    sys.excepthook = broken
    request = json.loads(sys.stdin.buffer.read())
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - pathlib would be one more import for each call
    module, _, name = sys.argv[1].partition(":")
    function = reduce(getattr, name.split("."), importlib.import_module(module))
    result = called(function, request["params"], int(os.environ["SKILLEVAL_SEED"]))
    end(channel, {"result": result})


def called(function: Any, params: dict[str, Any], seed: int) -> Any:
    """Call a function, async or not; the seed goes to those that name it."""
    result = function(params, **({"seed": seed} if takes_seed(function) else {}))
    if not hasattr(result, "__await__"):
        return result
    import asyncio

    async def awaited() -> Any:
        return await result

    return asyncio.run(awaited())


def takes_seed(function: Any) -> bool:
    """Say whether a function has a parameter `seed`."""
    code = getattr(
        function, "__code__", None
    )  # without `inspect`, whose import would be charged to every call
    return code is not None and "seed" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def sentence(error: BaseException) -> str:
    """Say an exception as the last line of its traceback does, on one line and without its notes."""
    lines = traceback.format_exception_only(error)
    return " ".join(next(line for line in lines if not line.startswith(" ")).split())


def end(channel: int, outcome: dict[str, Any]) -> NoReturn:
    """Write the reply and end at once: threads that are left over do not hold up the answer."""
    reply = json.dumps({"jsonrpc": "2.0", "id": 1, **outcome}, allow_nan=False)
    with os.fdopen(channel, "w", encoding="utf-8") as pipe:
        pipe.write(reply)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # whatever the skill made of them
            stream.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
