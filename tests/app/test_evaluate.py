"""What holds around a run: parts are closed whatever happens, and no result is lost by closing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_runs import RIGHT, write_workload
from samples import DONE

from skilleval.adapters.base import Call
from skilleval.app.evaluate import closing, evaluate
from skilleval.app.prepare import Prepared
from skilleval.domain.attempts import Reply
from skilleval.outcome import ExitCode


class Stubborn:
    """An adapter that notes its end, and may refuse it."""

    def __init__(self, kind: str, ends: list[str], *, refuses: bool = False) -> None:
        self.kind = kind
        self._ends = ends
        self._refuses = refuses

    async def invoke(self, call: Call) -> Reply:
        """Answer."""
        assert call.skill.id
        return DONE

    async def aclose(self) -> None:
        """End, or not."""
        await asyncio.sleep(0)
        self._ends.append(self.kind)
        if self._refuses:
            message = f"{self.kind} does not want to"
            raise OSError(message)


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    """Give a run of two tasks."""
    return write_workload(tmp_path, {"t1": RIGHT, "t2": RIGHT}).prepared()


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    """Collect what is warned of."""
    handler = logging.Handler(logging.WARNING)
    messages: list[str] = []
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("skilleval.app.evaluate")
    logger.addHandler(handler)
    yield messages
    logger.removeHandler(handler)


def test_an_adapter_that_cannot_be_closed_costs_nothing(prepared: Prepared, warnings: list[str]) -> None:
    """All others are closed, the results are there, and it is told."""
    ends: list[str] = []
    adapters = {
        "replay": Stubborn("replay", ends, refuses=True),
        "other": Stubborn("other", ends, refuses=True),
        "last": Stubborn("last", ends),
    }
    outcome = evaluate(replace(prepared, adapters=adapters), observe=lambda record: None)
    assert ends == ["replay", "other", "last"]
    assert outcome.statuses == {"completed": 2}
    assert outcome.exit_code is ExitCode.OK
    assert warnings == [
        "replay could not be closed: OSError: replay does not want to",
        "other could not be closed: OSError: other does not want to",
    ]


def test_parts_are_closed_after_work_that_broke(prepared: Prepared) -> None:
    """The error of the work is the one that is seen."""
    ends: list[str] = []

    async def work() -> None:
        message = "work broke"
        raise ValueError(message)

    stubborn = replace(prepared, adapters={"replay": Stubborn("replay", ends, refuses=True)})
    with pytest.raises(ValueError, match="work broke"):
        asyncio.run(closing(stubborn, work()))
    assert ends == ["replay"]
