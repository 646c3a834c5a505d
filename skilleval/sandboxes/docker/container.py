"""A container of ours, from its creation to its removal; and a program that runs in one."""

from __future__ import annotations

import asyncio
import secrets
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from skilleval.sandboxes.docker.blueprint import PREFIX, own_exit_code
from skilleval.sandboxes.docker.engine import Engine, EngineError, State
from skilleval.sandboxes.docker.settled import settled
from skilleval.sandboxes.docker.stream import Stream, attached, run_command

_LATE_S = 0.05  # the engine hears of a lack of memory from elsewhere, and sometimes after the end it caused
_KILLED = 128 + signal.SIGKILL
_IDLE_PROCESSES = 2  # the first process of the container, and the shell that keeps it running
_POLL_S = 0.002
_MAX_POLL_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a program ended: by the engine's clock, in seconds since 1970, where that is known."""

    exit_code: int
    ran_out_of_memory: bool
    finished_at: float | None = None


class Program(Protocol):
    """A program that waits at its gate, or runs."""

    @property
    def stream(self) -> Stream:
        """The connection with it."""

    async def ended(self) -> End:
        """Wait for its end, whatever brings it; its output must be read meanwhile."""

    async def kill(self) -> None:
        """End it with all it started."""


class Container:
    """A container and the connection with its first program."""

    def __init__(self, engine: Engine, name: str, stream: Stream) -> None:
        self.engine = engine
        self.name = name
        self.stream = stream
        self._was_killed = False

    async def ended(self) -> End:
        """Wait until nothing runs in it."""
        await self.engine.ended(self.name)
        state = await self.engine.call(self.engine.state, self.name)
        if state.exit_code == _KILLED and not (self._was_killed or state.ran_out_of_memory):
            await asyncio.sleep(_LATE_S)
            state = await self.engine.call(self.engine.state, self.name)
        return End(
            exit_code=own_exit_code(state.exit_code),
            ran_out_of_memory=state.ran_out_of_memory,
            finished_at=_moment(state),
        )

    async def kill(self) -> None:
        """End all that runs in it."""
        self._was_killed = True
        await self.engine.call(self.engine.kill, self.name)

    async def is_idle(self) -> bool:
        """Say whether nothing runs in it but what keeps it running."""
        try:
            return await self.engine.call(self.engine.count_processes, self.name) == _IDLE_PROCESSES
        except EngineError:  # it ended, or the engine cannot say
            return False

    async def has_program(self, word: str, path: str) -> bool:
        """Say whether there is a program of that name in it."""
        files = [word] if "/" in word else [f"{folder}/{word}" for folder in path.split(":")]
        for file in files:
            if await self.engine.call(self.engine.has_file, self.name, file):
                return True
        return False

    async def remove(self) -> None:
        """Take it away, with all that runs in it."""
        self.stream.cut()  # the engine waits for somebody to read what a program writes, even while it ends it
        await self.engine.call(self.engine.remove, self.name)


async def started(engine: Engine, config: Mapping[str, Any]) -> Container:
    """Make a container and start it; returns when its first program says that it stands.

    Raises:
        EngineError: it cannot be made or started; nothing of it is left then, nor after a cancellation.
    """
    name = f"{PREFIX}{secrets.token_hex(8)}"
    container: Container | None = None
    is_ready = False
    try:
        await settled(engine.call(engine.create, name, config))
        container = Container(engine, name, await attached(engine, name))
        await settled(engine.call(engine.start, name))
        await container.stream.ready()
        is_ready = True
    finally:
        if not is_ready:
            if container is not None:
                container.stream.cut()
            await settled(engine.call(engine.remove, name))
    return container


class FurtherProgram:
    """A program that runs in a container beside the sandbox's own; ending it ends the container.

    `left_nothing` is known once it has ended: whether it is surely gone with all it started.
    """

    def __init__(self, container: Container, command_id: str, stream: Stream) -> None:
        self._container = container
        self._command_id = command_id
        self._began_at = time.time()
        self._was_killed = False
        self.left_nothing = False
        self.stream = stream

    async def ended(self) -> End:
        """Wait for the end of its output, then for its own: for that the engine offers nothing to wait on."""
        await self.stream.is_over.wait()
        engine, pause_s = self._container.engine, _POLL_S
        while not self._was_killed:
            state, self.left_nothing = await asyncio.gather(
                engine.call(engine.command_state, self._command_id), self._container.is_idle()
            )
            if not (state.is_running or self._was_killed):
                return await self._end(state)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _MAX_POLL_S)
        return End(exit_code=-signal.SIGKILL, ran_out_of_memory=False)

    async def kill(self) -> None:
        """End it with the container: the engine cannot end one command of it."""
        self._was_killed = True
        await self._container.kill()

    async def _end(self, state: State) -> End:
        lacked_memory = False
        if state.exit_code == _KILLED:
            await asyncio.sleep(_LATE_S)
            engine = self._container.engine
            lacked_memory = await engine.call(engine.lacked_memory, self._container.name, self._began_at)
        return End(exit_code=own_exit_code(state.exit_code), ran_out_of_memory=lacked_memory)


async def further_program(
    container: Container, words: tuple[str, ...], *, user: str, folder: Any
) -> FurtherProgram:
    """Start a further command in a container; returns when it says that it stands.

    Raises:
        EngineError: it cannot be started.
    """
    engine = container.engine
    command_id = await engine.call(engine.prepare_command, container.name, words, user=user, folder=folder)
    stream = await run_command(engine, command_id)
    is_ready = False
    try:
        await stream.ready()
        is_ready = True
    finally:
        if not is_ready:
            stream.cut()
    return FurtherProgram(container, command_id, stream)


def _moment(state: State) -> float | None:
    try:  # the engine gives nanoseconds, and no digits where they are zero
        seconds, _, fraction = state.finished_at.rstrip("Z").partition(".")
        return datetime.fromisoformat(f"{seconds}+00:00").timestamp() + float(f"0.{fraction or 0}")
    except ValueError:
        return None
