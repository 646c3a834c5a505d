from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from naps import Nap

from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

Make = Callable[..., Command]


@pytest.fixture
def nap() -> Iterator[Nap]:
    """Give a nap; whoever still takes it after the test fails the test."""
    nap = Nap()
    yield nap
    assert nap.wake() == []


@pytest.fixture
def sandbox() -> NoSandbox:
    """Give a sandbox with no further variables."""
    return NoSandbox(NoSandboxOptions(pass_env=()))


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Give what makes a command that runs in a folder of its own."""

    def command(
        *argv: str,
        folder: Path = tmp_path,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = 20.0,
        max_output_bytes: int = 1_000_000,
    ) -> Command:
        return Command(
            argv=argv,
            folder=folder,
            env=env or {},
            stdin=stdin,
            timeout_s=timeout_s,
            max_output_bytes=max_output_bytes,
        )

    return command


@pytest.fixture
def run(sandbox: NoSandbox, make: Make) -> Callable[..., Completed]:
    """Give what runs a command to its end."""

    def completed(*argv: str, **limits: Any) -> Completed:
        return asyncio.run(sandbox.run(make(*argv, **limits)))

    return completed
