"""The program that calls a custom scorer: request on stdin, its judgement as one JSON value on stdout.

It is started by its path, in a process of its own, and imports nothing of skilleval. Whatever the scorer prints
goes to stderr, so it cannot be taken for the judgement.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any


def main() -> None:
    """Judge one output and end at once, whatever threads the scorer has left running."""
    judgements = os.dup(1)
    os.dup2(2, 1)
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
