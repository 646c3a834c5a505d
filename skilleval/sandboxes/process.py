"""`process`: runs strangers' programs on this machine, enclosed as well as the machine allows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from skilleval.errors import AdapterError
from skilleval.sandboxes.asking import asking
from skilleval.sandboxes.base import (
    CPU,
    FILE_SIZE,
    MEMORY,
    OPEN_FILES,
    PROCESSES,
    PROCESSES_END,
    Command,
    Completed,
)
from skilleval.sandboxes.bubblewrap import OWN_PROCESSES, BubblewrapMechanism, find_bubblewrap
from skilleval.sandboxes.cgroups import ControlGroups, sweep, usable_hierarchies
from skilleval.sandboxes.enclosed_options import EnclosedOptions, holds_a_home
from skilleval.sandboxes.fallback import FallbackMechanism
from skilleval.sandboxes.joints import door_of, handing_over, joints_of, seeing_relay, with_relay
from skilleval.sandboxes.launch import Launch
from skilleval.sandboxes.mechanism import Hold, Mechanism, Purpose, Start
from skilleval.sandboxes.programs import Programs
from skilleval.sandboxes.proxy import EgressProxy, Passage
from skilleval.sandboxes.requirements import Gap
from skilleval.sandboxes.running import execute
from skilleval.sandboxes.session import PipeSession, open_session
from skilleval.sandboxes.starting import not_started, unknown_program
from skilleval.sandboxes.view import View, absolute, refusal_of, view_of

_HANDED_OVER = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
_SET = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
_BY_GROUP = {MEMORY: "memory", PROCESSES: "pids"}
_NO_GROUPS = Gap(
    reason="no control group can be made here",
    fix="run as root, or within `systemd-run --user --scope`, or give the container its own control groups",
)
_CHOSEN_FALLBACK = Gap(reason="sandbox.mechanism=fallback", fix="use sandbox.mechanism=auto")
_NOWHERE = Path("/")


class ProcessOptions(EnclosedOptions):
    """`conf/sandbox/process.yaml`, where each option is explained."""

    mechanism: Literal["auto", "bubblewrap", "fallback"]


class ProcessSandbox:
    """Programs see little of the machine, reach nobody, and have limits; `guarantees` says what of that holds here.

    What is claimed has been tried when the sandbox is made. `hidden` are files and folders that no program may see
    even where they lie inside something it is shown, such as results inside a skill's folder.

    Raises:
        AdapterError: the mechanism that is asked for does not work here.
    """

    Options = ProcessOptions
    name = "process"

    def __init__(self, options: ProcessOptions, hidden: Sequence[Path] = ()) -> None:
        self._options = options
        self._hidden = tuple(hidden)
        self._resources = options.resources
        self._mechanism = _mechanism(options)
        self._programs = Programs()
        limits = self._resources.group_limits(own_processes=OWN_PROCESSES)
        self._groups = ControlGroups(usable_hierarchies(), limits)
        self._has_swept = False
        self._proxy = EgressProxy(options.allow_hosts, options.keys) if options.allow_hosts else None
        self.shares_network = options.network or not self._mechanism.parts_network
        self.serves_unguarded = self.shares_network and not options.network
        self.mechanism = self._mechanism.name
        self.gaps = self._gaps()
        self.guarantees = self._guarantees()
        self.warnings = self._warnings()

    async def run(self, command: Command) -> Completed:
        """Run a program to its end or its limit; on return, and on cancellation, nothing of it is alive.

        Where it cannot start, `not_started` begins with the cause: those of the sandbox `none`, and
        `sandbox_failed` where this machine is to blame and not the program.
        """
        launch = await self._launch(command, serves=False)
        return launch if isinstance(launch, Completed) else await execute(command, launch)

    async def open(self, command: Command) -> PipeSession | Completed:
        """Start a program to talk with; where it cannot start, `not_started` says why, as for `run`."""
        launch = await self._launch(command, serves=True)
        if isinstance(launch, Completed):
            return launch
        session = open_session(command, launch)
        if isinstance(session, PipeSession):
            await session.send(command.stdin)
        return session

    @property
    def passages(self) -> tuple[Passage, ...]:
        """What programs asked of the way out, by target; nothing where there is none."""
        return () if self._proxy is None else self._proxy.passages

    async def aclose(self) -> None:
        """Remove the control groups and give back what proxy and mechanism hold."""
        if self._proxy is not None:
            await self._proxy.aclose()
        self._groups.close()
        self._mechanism.close()

    async def _launch(self, command: Command, *, serves: bool) -> Launch | Completed:
        folder = absolute(command.folder)
        if not folder.is_dir():
            return not_started("folder_not_found", f"{folder} is not a folder")
        if holds_a_home(folder):
            return not_started("sandbox_failed", f"{folder} is too much to show to a program")
        if (refusal := refusal_of(command.argv[0], folder)) is not None:
            return not_started("program_missing", refusal)
        environment = self._environment(command)
        program = await self._found(command.argv[0], folder, environment)
        if program is None:
            return unknown_program(command)
        argv = (program, *command.argv[1:])
        try:
            way_out = await self._way_out()
            door = door_of(command)
        except OSError as error:
            return not_started("sandbox_failed", f"{error.filename}: {error.strerror}")
        if joints := joints_of(command, way_out, door):
            argv = with_relay(argv, joints)
            command = seeing_relay(command, way_out)
        further = tuple(map(Path, self._options.read))
        view = view_of(command, Path(program), further=further, hidden=self._hidden)
        environment["PATH"] = _visible(environment["PATH"], view, Path(program))
        launch = self._enclosed(argv, folder, environment, view, purpose=_purpose(command, serves=serves))
        return handing_over(launch, door)

    async def _found(self, word: str, folder: Path, environment: Mapping[str, str]) -> str | None:
        # Asking runs outside the sandbox. What a skill names by a path may be a file of its own, or of another skill.
        is_chosen = "/" not in word or str(Path(word).parent) in environment["PATH"].split(os.pathsep)
        ask = asking(_NOWHERE, environment, distrusted=folder) if is_chosen else _not_asking
        return await self._programs.find(word, folder, environment["PATH"], ask)

    async def _way_out(self) -> Path | None:
        if self._proxy is None:
            return None
        await self._proxy.start()
        return self._proxy.socket

    def _environment(self, command: Command) -> dict[str, str]:
        names = (*_HANDED_OVER, *self._options.pass_env)
        handed_over = {name: os.environ[name] for name in names if name in os.environ}
        return {"PATH": os.defpath, **self._mechanism.temporary, **handed_over, **_SET, **command.env}

    def _enclosed(
        self,
        argv: tuple[str, ...],
        folder: Path,
        environment: Mapping[str, str],
        view: View,
        *,
        purpose: Purpose,
    ) -> Launch | Completed:
        self._sweep()
        has_memory_group = _BY_GROUP[MEMORY] in self._groups.controllers
        limits = self._resources.limits(serves=purpose is not Purpose.TRIAL, has_group=has_memory_group)
        hold: Hold | None = None
        try:
            hold = Hold(self._resources, limits, self._groups if self._groups.controllers else None)
            start = Start(
                argv=argv, folder=folder, environment=environment, view=view, hold=hold, purpose=purpose
            )
            return self._mechanism.launch(start)
        except OSError as error:
            if hold is not None:
                hold.close()
            return not_started(
                "sandbox_failed", f"{error.filename or self._mechanism.name}: {error.strerror}"
            )

    def _sweep(self) -> None:
        if not self._has_swept:
            self._has_swept = True
            sweep(usable_hierarchies())

    def _gaps(self) -> dict[str, Gap]:
        by_group = {name for name, controller in _BY_GROUP.items() if controller in self._groups.controllers}
        found = dict(self._mechanism.gaps)
        if by_group:
            found.pop(PROCESSES_END, None)  # who is in a group can be found, whatever it does
        found |= {name: _NO_GROUPS for name in _BY_GROUP if name not in by_group}
        if self._options.cpus is not None and "cpu" not in self._groups.controllers:
            found[CPU] = _NO_GROUPS
        return found

    def _guarantees(self) -> frozenset[str]:
        claimed = {*self._mechanism.guarantees, *_BY_GROUP, PROCESSES_END, FILE_SIZE, OPEN_FILES}
        if self._options.cpus is not None or self._options.cpu_seconds is not None:
            claimed.add(CPU)
        return frozenset(claimed - self.gaps.keys())

    def _warnings(self) -> tuple[str, ...]:
        if not self.gaps:
            return ()
        missing = ", ".join(sorted(self.gaps))
        causes = "; ".join(dict.fromkeys(f"{gap.reason}: {gap.fix}" for gap in self.gaps.values()))
        return (f"sandbox=process does not enforce here: {missing} ({causes})",)


def _mechanism(options: ProcessOptions) -> Mechanism:
    if options.mechanism == "fallback":
        return _fallback(options, _CHOSEN_FALLBACK)
    found = find_bubblewrap()
    if not isinstance(found, Gap):
        tmp_bytes = options.resources.tmp_bytes
        return BubblewrapMechanism(found, shares_network=options.network, tmp_bytes=tmp_bytes)
    if options.mechanism == "bubblewrap":
        raise AdapterError(f"sandbox.mechanism=bubblewrap: {found.reason}", hint=found.fix)
    return _fallback(options, found)


def _fallback(options: ProcessOptions, why: Gap) -> Mechanism:
    if options.allow_hosts:
        raise AdapterError(f"sandbox.allow_hosts needs bubblewrap: {why.reason}", hint=why.fix)
    return FallbackMechanism(shares_network=options.network, why=why)


def _purpose(command: Command, *, serves: bool) -> Purpose:
    if command.exposes is not None:
        return Purpose.SERVER
    return Purpose.SESSION if serves else Purpose.TRIAL


async def _not_asking(_: tuple[str, ...]) -> str:
    return ""


@lru_cache(maxsize=256)  # the same for every trial of a skill, and asks many paths for their parents
def _visible(path: str, view: View, program: Path) -> str:
    """Keep of the PATH what is seen; the program's own folder comes first, so that it finds its like."""
    folders = [Path(folder) for folder in path.split(os.pathsep) if folder.startswith("/")]
    first = [program.parent] if program.parent.name in {"bin", "sbin"} else []
    return os.pathsep.join(dict.fromkeys(str(folder) for folder in (*first, *folders) if view.shows(folder)))
