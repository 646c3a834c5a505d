"""Calls one function of a skill: run in the skill's folder as `python python_child.py MODULE:FUNCTION [many]`.

It reads one JSON-RPC request from stdin and writes one reply or, with `many`, replies to each line until there are no
more. Only replies reach stdout: what the skill prints, also from C code and from programs it starts, goes to stderr.
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

TOLD_CHARACTERS = 65_536
"""How much is told of an exception."""

EXCEPTION = -32000
"""The code of an error reply that says the function raised."""
MANY = "many"
"""The word that asks for more than one call."""


def main() -> NoReturn:
    """Read, call, reply: once, or as often as there are requests."""
    channel = os.dup(1)
    os.dup2(2, 1)
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - pathlib would be one more import for each call
    if sys.argv[2:] == [MANY]:
        serve(channel)
    reply_once(channel)


def reply_once(channel: int) -> NoReturn:
    """Reply to the one request. The call is over when the function returns, whatever it left running."""

    def broken(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        tell(kind, error, trace)
        end(channel, {"error": {"code": EXCEPTION, "message": sentence(error)}})

    sys.excepthook = broken
    request = json.loads(sys.stdin.buffer.read())
    result = called(loaded(sys.argv[1]), request["params"], int(os.environ["SKILLEVAL_SEED"]))
    end(channel, {"result": result})


def serve(channel: int) -> NoReturn:
    """Reply to each line; the module is imported for the first one, and keeps what it holds."""
    lines = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # the skill must not read the next request in our place
    for line in lines:
        request = json.loads(line)
        about = request["skilleval"]
        os.environ.update(SKILLEVAL_SEED=str(about["seed"]), SKILLEVAL_REPEAT=str(about["repeat"]))
        outcome = Outcome()
        with outcome:
            outcome.result(called(loaded(sys.argv[1]), request["params"], about["seed"]))
        flush()  # what it printed belongs to this call
        write(channel, f'{{"jsonrpc":"2.0","id":{request["id"]},{outcome.members}}}\n')
    os._exit(0)


class Outcome:
    """What came of a call, as members of a reply. Whatever the function raises is an answer, but for leaving Python."""

    def __init__(self) -> None:
        self.members = ""

    def __enter__(self) -> None:
        """Begin."""

    def result(self, value: Any) -> None:
        """Take what the function returned."""
        self.members = f'"result":{json.dumps(value, allow_nan=False)}'

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Take what it raised."""
        if error is None or isinstance(error, SystemExit):
            return False
        tell(kind, error, trace)
        self.members = f'"error":{json.dumps({"code": EXCEPTION, "message": sentence(error)})}'
        return True


def loaded(entrypoint: str) -> Any:
    """Import a function; the second time it costs next to nothing."""
    module, _, name = entrypoint.partition(":")
    return reduce(getattr, name.split("."), importlib.import_module(module))


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


def tell(kind: type[BaseException] | None, error: BaseException, trace: TracebackType | None) -> None:
    """Print an exception as Python does; of an endless one only the end, so that it is still an exception."""
    sys.stderr.write("".join(traceback.format_exception(kind, error, trace))[-TOLD_CHARACTERS:])


def sentence(error: BaseException) -> str:
    """Say an exception as the last line of its traceback does, on one line and without its notes."""
    lines = traceback.format_exception_only(error)
    line = next(line for line in lines if not line.startswith(" "))
    return " ".join(line[:TOLD_CHARACTERS].split())


def end(channel: int, outcome: dict[str, Any]) -> NoReturn:
    """Write the reply and end at once: threads that are left over do not hold up the answer."""
    reply = json.dumps({"jsonrpc": "2.0", "id": 1, **outcome}, allow_nan=False)
    write(channel, reply)
    flush()
    os._exit(0)


def write(channel: int, text: str) -> None:
    """Write all of a text."""
    left = memoryview(text.encode())
    while left:
        left = left[os.write(channel, left) :]


def flush() -> None:
    """Send off what the skill printed."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # whatever the skill made of them
            stream.flush()


if __name__ == "__main__":
    main()
