"""How a program without network is reached, and reaches named hosts: by the relay of `inside.py` beside it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from skilleval.sandboxes import inside
from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.doors import Door
from skilleval.sandboxes.launch import Enclosure, Launch

_RELAY = Path(inside.__file__).absolute()
_PYTHON = Path(sys.executable)


def joints_of(command: Command, proxy: Path | None, door: Door | None = None) -> Mapping[str, object]:
    """Give the orders for the relay; empty where the program needs none. `proxy` is the socket of the way out.

    Without a door that is handed over, the relay makes the socket itself, in a folder that it can write.
    """
    found: dict[str, object] = {}
    if command.exposes is not None and command.exposes.socket is not None:
        where = str(command.exposes.socket) if door is None else door.descriptor
        found["exposes"] = [command.exposes.port, where]
    if proxy is not None:
        found["proxy"] = str(proxy)
    return found


def door_of(command: Command) -> Door | None:
    """Make the socket at which a program is to be reached, where it has one; the program never sees its folder.

    Raises:
        OSError: it cannot be made.
    """
    if command.exposes is None or command.exposes.socket is None:
        return None
    return Door(command.exposes.socket)


def seeing_door(command: Command) -> Command:
    """Let a relay to which nothing can be handed over write the folder of its socket."""
    if command.exposes is None or command.exposes.socket is None:
        return command
    return replace(command, writes=(*command.writes, command.exposes.socket.parent))


def seeing_relay(command: Command, proxy: Path | None) -> Command:
    """Let a program see what its relay needs."""
    further = () if proxy is None else (proxy,)
    return replace(command, reads=(*command.reads, _RELAY, _PYTHON, *further))


def with_relay(argv: tuple[str, ...], joints: Mapping[str, object]) -> tuple[str, ...]:
    """Start a program with the relay beside it."""
    return (str(_PYTHON), "-I", "-S", str(_RELAY), json.dumps(joints), *argv)


def handing_over(launch: Launch | Completed, door: Door | None) -> Launch | Completed:
    """Let a program's relay inherit its door; where nothing is started, close it."""
    if door is None:
        return launch
    if isinstance(launch, Completed):
        door.close()
        return launch
    descriptors = (*launch.descriptors, door.descriptor)
    return replace(launch, descriptors=descriptors, enclosure=_WithDoor(launch.enclosure, door))


class _WithDoor:
    """An enclosure whose program has a door; once it has started, only the relay holds it."""

    def __init__(self, enclosure: Enclosure, door: Door) -> None:
        self._enclosure = enclosure
        self._door = door
        self.is_complete = enclosure.is_complete

    def started(self) -> None:
        """The relay has its own copy."""
        self._door.close()
        self._enclosure.started()

    def kill(self) -> bool:
        """End whatever is inside."""
        return self._enclosure.kill()

    def verdict(self, completed: Completed) -> Completed:
        """Say how the program itself ended."""
        return self._enclosure.verdict(completed)

    def close(self) -> None:
        """Take the enclosure away."""
        self._door.close()
        self._enclosure.close()
