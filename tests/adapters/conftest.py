from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from naps import Nap
from samples import skill

from skilleval.adapters.base import Call
from skilleval.adapters.subprocess_rpc import SubprocessAdapter, SubprocessOptions
from skilleval.domain import Reply
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions


@pytest.fixture
def nap() -> Iterator[Nap]:
    """Give a nap; whoever still takes it after the test fails the test."""
    nap = Nap()
    yield nap
    assert nap.wake() == []


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., Call]:
    """Give what makes a call of a skill that lives in a folder of its own."""

    def made(entrypoint: str = "none", *, skill_id: str = "adder", **changes: Any) -> Call:
        values: dict[str, Any] = {
            "skill": skill(skill_id, entrypoint=entrypoint, folder=tmp_path),
            "task_id": "t1",
            "input": {"a": 1},
            "repeat": 0,
            "seed": 0,
            "try_index": 0,
            "timeout_s": 20.0,
            "trial_id": "0" * 32,
        }
        return Call(**(values | changes))

    return made


@pytest.fixture
def invoke(call: Callable[..., Call]) -> Callable[..., Reply]:
    """Give what invokes an entrypoint for real."""

    def reply(entrypoint: str, *, max_output_bytes: int = 1_000_000, **changes: Any) -> Reply:
        options = SubprocessOptions(max_output_bytes=max_output_bytes)
        adapter = SubprocessAdapter(options, NoSandbox(NoSandboxOptions(pass_env=())))
        return asyncio.run(adapter.invoke(call(entrypoint, **changes)))

    return reply


@pytest.fixture
def invoke_printing(tmp_path: Path, invoke: Callable[..., Reply]) -> Callable[..., Reply]:
    """Give what invokes a program that writes these bytes and exits with this code."""

    def reply(stdout: bytes, *, exit_code: int = 0, **changes: Any) -> Reply:
        (tmp_path / "stdout").write_bytes(stdout)
        return invoke(f'sh -c "cat stdout; exit {exit_code}"', **changes)

    return reply
