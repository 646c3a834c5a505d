from __future__ import annotations

import asyncio
import logging

import pytest

from skilleval.adapters.base import Adapter, Call, close_all, isolation
from skilleval.adapters.subprocess_rpc import SubprocessAdapter, SubprocessOptions
from skilleval.domain.attempts import Reply, Status
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions


class Held:
    """Something that is held, and may refuse to be closed."""

    def __init__(self, trouble: Exception | None = None) -> None:
        self.is_open = True
        self._trouble = trouble

    async def aclose(self) -> None:
        """Close, or refuse."""
        if self._trouble is not None:
            raise self._trouble
        self.is_open = False


class Plain:
    """An adapter that says nothing about isolation."""

    kind = "plain"

    async def invoke(self, call: Call) -> Reply:
        """Answer nothing."""
        assert call.skill
        return Reply(status=Status.COMPLETED)

    async def aclose(self) -> None:
        """Hold nothing."""


def test_one_failing_close_keeps_no_other_open(caplog: pytest.LogCaptureFixture) -> None:
    """What fails is logged, and everything else is closed."""
    parts = [Held(), Held(OSError("stuck")), Held()]
    with caplog.at_level(logging.WARNING):
        asyncio.run(close_all(parts))
    assert [part.is_open for part in parts] == [False, True, False]
    assert caplog.messages == ["what an adapter held could not be closed: stuck"]


def _subprocess(worker_trials: int | None) -> SubprocessAdapter:
    options = SubprocessOptions(max_output_bytes=1)
    return SubprocessAdapter(options, NoSandbox(NoSandboxOptions(pass_env=())), worker_trials=worker_trials)


@pytest.mark.parametrize(
    ("adapter", "said"),
    [
        (_subprocess(None), "trial"),
        (_subprocess(5), "worker"),
        (Plain(), "worker"),
    ],
)
def test_isolation_is_a_promise(adapter: Adapter, said: str) -> None:
    """Who does not promise a process for each trial is taken to share one."""
    assert isolation(adapter) == said
