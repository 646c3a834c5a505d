"""What a sandbox makes of a command before a container is there: all that can be known, and refused, in advance."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from skilleval.errors import AdapterError, Problem
from skilleval.sandboxes import inside
from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.docker.access import hand_over, unreadable
from skilleval.sandboxes.docker.blueprint import Blueprint, User
from skilleval.sandboxes.docker.engine import Engine
from skilleval.sandboxes.docker.images import Images
from skilleval.sandboxes.docker.options import DockerOptions
from skilleval.sandboxes.docker.view import view_of
from skilleval.sandboxes.enclosed_options import holds_a_home
from skilleval.sandboxes.joints import joints_of, seeing_door
from skilleval.sandboxes.proxy import EgressProxy
from skilleval.sandboxes.starting import not_started, unknown_program
from skilleval.sandboxes.view import absolute

PYTHON = "python3"
"""The Python of an image."""

_SET = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
_RELAY = Path(inside.__file__).absolute()
_SPEAKABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_FOR_ALL = 0o666


class Planner:
    """Turns commands into blueprints of containers."""

    def __init__(
        self, options: DockerOptions, engine: Engine, images: Images, user: User, hidden: Sequence[Path]
    ) -> None:
        self._options = options
        self._engine = engine
        self._images = images
        self._hidden = tuple(hidden)
        self._readable: set[Path] = set()
        self.user = user
        self.proxy = EgressProxy(options.allow_hosts, options.keys) if options.allow_hosts else None

    async def blueprint(self, command: Command, *, serves: bool) -> Blueprint | Completed:
        """Say what container a command needs; or why it cannot run.

        Raises:
            AdapterError: its image cannot be built.
        """
        folder = absolute(command.folder)
        if (refused := self._refused(command, folder)) is not None:
            return refused
        image = await self._engine.call(self._images.of, folder)
        command = seeing_door(command)  # no engine hands descriptors over
        way_out = await self._way_out()
        joints = joints_of(command, way_out)
        further = (
            *map(Path, self._options.read),
            *([_RELAY] if joints else ()),
            *((way_out,) if way_out else ()),
        )
        for path in command.writes:
            hand_over(path, self.user)
        return Blueprint(
            image=image,
            argv=_with_relay(command.argv, joints) if joints else command.argv,
            folder=folder,
            environment=tuple(self._environment(command).items()),
            view=view_of(command, further=further, hidden=self._hidden),
            user=self.user,
            serves=serves,
        )

    def check(self, folder: Path) -> None:
        """See to it that programs can read a folder.

        Raises:
            AdapterError: they cannot; the error says what to do.
        """
        if (path := self._unreadable(folder)) is not None:
            hint = f"chmod -R o+rX {folder}"
            expected = f"a file that user {self.user.uid} may read: programs in containers are never root"
            problem = Problem(where=str(path), expected=expected, found="others may not", hint=hint)
            raise AdapterError("sandbox=docker cannot show a skill's folder", problems=(problem,))

    def _refused(self, command: Command, folder: Path) -> Completed | None:
        word = command.argv[0]
        if not folder.is_dir():
            return not_started("folder_not_found", f"{folder} is not a folder")
        if holds_a_home(folder):
            return not_started("sandbox_failed", f"{folder} is too much to show to a program")
        if "/" in word and not word.startswith("/") and not _is_own_file(folder, word):
            return unknown_program(command)
        for root in (folder, *command.reads):
            if (path := self._unreadable(root)) is not None:
                reason = f"user {self.user.uid} of the container may not read {path}: chmod -R o+rX {root}"
                return not_started("sandbox_failed", reason)
        return None

    def _unreadable(self, root: Path) -> Path | None:
        if root in self._readable:
            return None
        found = unreadable(root, self.user)
        if found is None:
            self._readable.add(root)
        return found

    def _environment(self, command: Command) -> dict[str, str]:
        handed_over = {name: os.environ[name] for name in self._options.pass_env if name in os.environ}
        unspeakable = {name: value for name, value in command.env.items() if not _is_line(value)}
        return {**handed_over, **_SET, **unspeakable}

    async def _way_out(self) -> Path | None:
        if self.proxy is None:
            return None
        await self.proxy.start()
        self.proxy.socket.chmod(_FOR_ALL)  # its folder is ours alone; in the container others must reach it
        return self.proxy.socket


def opening(command: Command) -> bytes:
    """Give what the gate of a container is told: the variables of this trial, and an empty line.

    A variable whose name no shell knows cannot be handed over.
    """
    lines = [
        f"{name}={value}"
        for name, value in command.env.items()
        if _SPEAKABLE.fullmatch(name) and _is_line(value)
    ]
    return os.fsencode("\n".join([*lines, "", ""]))


def _is_own_file(folder: Path, word: str) -> bool:
    file = absolute(folder / word)
    return file.is_relative_to(folder) and file.is_file()


def _is_line(value: str) -> bool:
    return "\n" not in value


def _with_relay(argv: tuple[str, ...], joints: Mapping[str, object]) -> tuple[str, ...]:
    return (PYTHON, "-I", "-S", str(_RELAY), json.dumps(joints), *argv)
