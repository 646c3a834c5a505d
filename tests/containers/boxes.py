"""Sandboxes on a real engine, with small limits, and commands for them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.docker import DockerSandbox
from skilleval.sandboxes.docker.engine import Engine
from skilleval.sandboxes.docker.leftovers import Leftover, find_containers

VALUES: dict[str, Any] = {
    "image": "skilleval-base:py311", "build": False, "runtime": None, "pool": 0, "reuse": False, "network": False,
    "allow_hosts": [], "pass_env": [], "read": [], "memory_mb": 128, "cpus": None, "cpu_seconds": 20,
    "processes": 32, "file_size_mb": 4, "open_files": 128, "tmp_mb": 8,
}  # fmt: skip
_T = TypeVar("_T")


def sandbox(*, hidden: Sequence[Path] = (), **changes: Any) -> DockerSandbox:
    """Make a sandbox with some options changed."""
    return DockerSandbox(
        DockerSandbox.Options.parse(VALUES | changes, where="test", prefix="sandbox"), hidden
    )


def command(folder: Path, *argv: str, **changes: Any) -> Command:
    """Make a command with generous limits."""
    values: dict[str, Any] = {"env": {}, "stdin": b"", "timeout_s": 30.0, "max_output_bytes": 100_000}
    return Command(argv=argv, folder=folder, **(values | changes))


def used(work: Callable[[DockerSandbox], Awaitable[_T]], **options: Any) -> _T:
    """Do some work with a sandbox that is closed afterwards."""

    async def whole() -> _T:
        made = sandbox(**options)
        try:
            return await work(made)
        finally:
            await made.aclose()

    return asyncio.run(whole())


def completed(folder: Path, *argv: str, options: dict[str, Any] | None = None, **changes: Any) -> Completed:
    """Run one command in a sandbox of its own."""
    return used(lambda made: made.run(command(folder, *argv, **changes)), **(options or {}))


def containers(pid: int | None = None) -> tuple[Leftover, ...]:
    """Give the containers that a process made and that are still there; that is this process unless said otherwise."""
    engine, maker = Engine(), os.getpid() if pid is None else pid
    try:
        return tuple(one for one in find_containers(engine) if one.pid == maker)
    finally:
        engine.close()
