"""Containers that are there before they are needed, and containers that are used again."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from skilleval.sandboxes.docker.blueprint import Blueprint
from skilleval.sandboxes.docker.container import Container
from skilleval.sandboxes.docker.engine import EngineError
from skilleval.sandboxes.docker.settled import settled

_MAX_PROGRAMS = 4  # for so many different programs containers are kept; those of others are removed first
_log = logging.getLogger(__name__)

Start = Callable[[Blueprint], Awaitable[Container]]


class Removal:
    """Removes containers while others already run; `aclose` waits for the last one."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, containers: Iterable[Container]) -> None:
        """Have containers removed in which nothing runs that matters."""
        for container in containers:
            task = asyncio.create_task(_removed(container))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Wait until all are gone."""
        await asyncio.gather(*self._tasks)


async def _removed(container: Container) -> None:
    try:
        await container.remove()
    except EngineError as error:
        _log.warning("container %s could not be removed: %s", container.name, error)


class WarmPool:
    """Keeps `size` containers waiting at their gate for the programs run last; each is used once."""

    def __init__(self, start: Start, removal: Removal, size: int) -> None:
        self._start = start
        self._removal = removal
        self._size = size
        self._ready: dict[Blueprint, list[Container]] = {}
        self._starting: set[asyncio.Task[None]] = set()
        self._n_starting: Counter[Blueprint] = Counter()

    async def take(self, blueprint: Blueprint) -> Container:
        """Give a container that waits for this program, a new one where none does."""
        return self._usable(self._ready.get(blueprint, [])) or await self._start(blueprint)

    def refill(self, blueprint: Blueprint) -> None:
        """Have containers started for the next trials of a program; while one is timed, that would be felt."""
        if not self._size:
            return
        ready = self._ready.pop(blueprint, [])
        self._ready[blueprint] = ready  # the last one in order
        while len(self._ready) > _MAX_PROGRAMS:
            self._removal.begin(self._ready.pop(next(iter(self._ready))))
        for _ in range(self._size - len(ready) - self._n_starting[blueprint]):
            self._begin(blueprint)

    async def aclose(self) -> None:
        """Remove all that wait."""
        await asyncio.gather(*self._starting, return_exceptions=True)
        for ready in self._ready.values():
            self._removal.begin(ready)
        self._ready.clear()

    def _usable(self, ready: list[Container]) -> Container | None:
        while ready:
            container = ready.pop(0)
            if container.stream.is_open:
                return container
            self._removal.begin([container])
        return None

    def _begin(self, blueprint: Blueprint) -> None:
        self._n_starting[blueprint] += 1
        task = asyncio.create_task(self._prepared(blueprint))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _prepared(self, blueprint: Blueprint) -> None:
        try:
            container = await self._start(blueprint)
        except EngineError as error:  # the trial that needs it starts one of its own, and tells what is wrong
            _log.debug("no container could be made ready: %s", error)
            return
        finally:
            self._n_starting[blueprint] -= 1
        ready = self._ready.get(blueprint)
        if ready is None or len(ready) >= self._size:
            self._removal.begin([container])
        else:
            ready.append(container)


class SharedContainers:
    """Containers in which one trial runs after the other; one in which something is left is not used again."""

    def __init__(self, start: Start, removal: Removal) -> None:
        self._start = start
        self._removal = removal
        self._idle: dict[Blueprint, list[Container]] = {}

    async def take(self, blueprint: Blueprint) -> Container:
        """Give a container in which nothing runs."""
        idle = self._idle.pop(_shared(blueprint), [])
        self._idle[_shared(blueprint)] = idle
        while len(self._idle) > _MAX_PROGRAMS:
            self._removal.begin(self._idle.pop(next(iter(self._idle))))
        while idle:
            container = idle.pop()
            if container.stream.is_open:
                return container
            self._removal.begin([container])
        return await self._start(_shared(blueprint))

    async def put_back(self, blueprint: Blueprint, container: Container) -> None:
        """Use a container again if nothing runs in it any more; else end what does."""
        if await settled(container.is_idle()):
            self.keep(blueprint, container)
        else:
            await settled(_removed(container))

    def keep(self, blueprint: Blueprint, container: Container) -> None:
        """Use a container again in which nothing runs."""
        self._idle.setdefault(_shared(blueprint), []).append(container)

    async def aclose(self) -> None:
        """Remove all."""
        for idle in self._idle.values():
            self._removal.begin(idle)
        self._idle.clear()


def _shared(blueprint: Blueprint) -> Blueprint:
    """Tell containers apart by what they show, not by the program that runs in them."""
    return replace(blueprint, argv=())
