"""`none`: runs a program with the rights of the evaluator, and ends all it started."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from skilleval.sandboxes.asking import asking
from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.launch import Launch
from skilleval.sandboxes.programs import Programs
from skilleval.sandboxes.running import execute
from skilleval.sandboxes.session import PipeSession, open_session
from skilleval.sandboxes.starting import not_started, unknown_program
from skilleval.strict import StrictModel

_HANDED_OVER = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
_SET = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
_WARNING = (
    "sandbox=none isolates nothing: skills run with your rights, files and network; "
    "only the processes they start are ended with each trial"
)


class NoSandboxOptions(StrictModel):
    """`conf/sandbox/none.yaml`. `pass_env` names variables of the evaluator that programs may see."""

    pass_env: Annotated[tuple[str, ...], Field(strict=False)]


class NoSandbox:
    """No isolation: network, files and rights are those of the evaluator.

    A program does not inherit the evaluator's environment, where its keys are: it gets the few variables any
    program needs, those of `pass_env`, and those of its command. Nothing can be hidden from it.
    """

    Options = NoSandboxOptions
    name = "none"
    guarantees: frozenset[str] = frozenset()
    shares_network = True
    serves_unguarded = False  # nothing guards the others either
    warnings = (_WARNING,)

    def __init__(self, options: NoSandboxOptions, _hidden: Sequence[Path] = ()) -> None:
        self._names = (*_HANDED_OVER, *options.pass_env)
        self._programs = Programs()

    async def run(self, command: Command) -> Completed:
        """Run a program to its end or its limit; on return, and on cancellation, nothing of it is alive.

        Where it cannot start, `not_started` begins with the cause: `program_not_found` (nothing of that name on
        the PATH), `program_missing` (no such file in the folder), `folder_not_found` or `not_started`.
        """
        launch = await self._launch(command)
        return launch if isinstance(launch, Completed) else await execute(command, launch)

    async def open(self, command: Command) -> PipeSession | Completed:
        """Start a program to talk with; where it cannot start, `not_started` says why, as for `run`."""
        launch = await self._launch(command)
        if isinstance(launch, Completed):
            return launch
        session = open_session(command, _ending_with_us(launch))
        if isinstance(session, PipeSession):
            await session.send(command.stdin)
        return session

    async def aclose(self) -> None:
        """Nothing is held between runs."""

    async def _launch(self, command: Command) -> Launch | Completed:
        if not command.folder.is_dir():
            return not_started("folder_not_found", f"{command.folder} is not a folder")
        environment = self._environment(command)
        ask = asking(command.folder, environment)
        program = await self._programs.find(command.argv[0], command.folder, environment["PATH"], ask)
        if program is None:
            return unknown_program(command)
        return Launch(argv=(program, *command.argv[1:]), folder=command.folder, env=environment)

    def _environment(self, command: Command) -> dict[str, str]:
        handed_over = {name: os.environ[name] for name in self._names if name in os.environ}
        return {"PATH": os.defpath, **handed_over, **_SET, **command.env}


def _ending_with_us(launch: Launch) -> Launch:
    """Have the system end a program that lives long if skilleval is killed outright and cannot."""
    setpriv = shutil.which("setpriv")
    prefix = () if setpriv is None else (setpriv, "--pdeathsig", "KILL")
    return replace(launch, argv=(*prefix, *launch.argv))
