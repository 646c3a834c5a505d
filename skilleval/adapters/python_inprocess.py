"""Calls Python functions within this process: fast, and for trusted code only.

Nothing isolates such a function, and nothing can end it: after the time limit its thread is left alone. What it
prints goes where skilleval prints. `SKILLEVAL_SEED` is not set, as all threads share one environment.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import threading
import time
import traceback
from contextlib import suppress
from functools import reduce
from pathlib import Path
from types import TracebackType
from typing import Any

from skilleval.adapters.base import Call
from skilleval.adapters.python_child import called, sentence
from skilleval.adapters.text import EXCERPT_BYTES, MESSAGE_CHARACTERS, compact_json, storable
from skilleval.domain.attempts import Reply, Status

_loading = threading.Lock()


class InProcess:
    """Loads each function once and calls it in a thread of its own."""

    def __init__(self, max_output_bytes: int) -> None:
        self._max_output_bytes = max_output_bytes
        self._functions: dict[tuple[Path, str], Any] = {}

    async def invoke(self, call: Call, entrypoint: str) -> Reply:
        """Call the function once; nobody waits for it beyond the limit."""
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        outcome = _Outcome()

        def work() -> None:
            with outcome:
                function = self._function(call.skill.folder, entrypoint)
                params = json.loads(json.dumps(call.input))  # a copy: what it changes is its own
                outcome.started = time.perf_counter()
                outcome.result = compact_json(called(function, params, call.seed))
            with suppress(RuntimeError):  # the run may be over long since
                loop.call_soon_threadsafe(over.set)

        # A daemon: a function that never returns must not keep skilleval from ending.
        threading.Thread(target=work, daemon=True, name=f"skill {call.skill.id}").start()
        try:
            async with asyncio.timeout(call.timeout_s):
                await over.wait()
        except TimeoutError:
            return _timed_out(call.timeout_s)
        return self._reply(outcome)

    def _function(self, folder: Path, entrypoint: str) -> Any:
        with _loading:
            if (folder, entrypoint) not in self._functions:
                self._functions[folder, entrypoint] = _loaded(folder, entrypoint)
            return self._functions[folder, entrypoint]

    def _reply(self, outcome: _Outcome) -> Reply:
        if outcome.error is not None:
            return _failed("exception", sentence(outcome.error), outcome)
        output, n_replaced = outcome.result
        n_bytes = len(output.encode())
        if n_bytes > self._max_output_bytes:
            message = f"returned {n_bytes} bytes, the limit is {self._max_output_bytes}"
            return _failed("output_limit", message, outcome)
        return Reply(
            status=Status.COMPLETED,
            output=output,
            output_bytes=n_bytes,
            output_encoding_errors=n_replaced,
            latency_ms=outcome.latency_ms,
        )


class _Outcome:
    """What came of a call: whatever the function raises, be it `SystemExit`, is an answer and goes no further."""

    def __init__(self) -> None:
        self.started: float | None = None
        self.latency_ms: float | None = None
        self.result = ("null", 0)
        self.error: BaseException | None = None

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Keep the error and how long it took to come to this."""
        if self.started is not None:
            self.latency_ms = (time.perf_counter() - self.started) * 1000
        self.error = error
        return True

    def trace(self) -> str:
        """Give the whole traceback."""
        return "".join(traceback.format_exception(self.error))


def _loaded(folder: Path, entrypoint: str) -> Any:
    """Import a function; modules of the skill are forgotten afterwards, so that another may have the same names."""
    module, _, name = entrypoint.partition(":")
    known = set(sys.modules)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        return reduce(getattr, name.split("."), importlib.import_module(module))
    finally:
        sys.path.remove(str(folder))
        for new in set(sys.modules) - known:
            if _stands_in(folder, getattr(sys.modules[new], "__file__", None)):
                del sys.modules[new]


def _stands_in(folder: Path, file: str | None) -> bool:
    return file is not None and Path(file).is_relative_to(folder)


def _failed(kind: str, message: str, outcome: _Outcome) -> Reply:
    return Reply(
        status=Status.SKILL_ERROR,
        failure_kind=kind,
        message=storable(message[:MESSAGE_CHARACTERS])[0],
        stderr=None if outcome.error is None else storable(outcome.trace()[-EXCERPT_BYTES:])[0],
        latency_ms=outcome.latency_ms,
        retryable=True,
    )


def _timed_out(timeout_s: float) -> Reply:
    return Reply(
        status=Status.TIMEOUT,
        failure_kind="timeout",
        message=f"not done within {timeout_s:g} s; its thread is left running",
        latency_ms=timeout_s * 1000,
        retryable=True,
    )
