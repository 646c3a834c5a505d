"""`python`: calls a function `module:function` of the skill's folder: in a fresh process, a worker, or this process."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from skilleval.adapters.base import Call
from skilleval.adapters.interpreter import python_of
from skilleval.adapters.python_child import EXCEPTION, MANY
from skilleval.adapters.python_inprocess import InProcess
from skilleval.adapters.subprocess_rpc import SubprocessAdapter, SubprocessOptions
from skilleval.domain.attempts import Reply, Status
from skilleval.errors import Problem, SetupError
from skilleval.sandboxes.base import Sandbox
from skilleval.strict import StrictModel

_NAME = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
_ENTRYPOINT = re.compile(f"{_NAME}:{_NAME}")
_CHILD = str(Path(__file__).with_name("python_child.py"))
_RAISED = f"JSON-RPC error {EXCEPTION}: "


class PythonOptions(StrictModel):
    """`conf/adapter/python.yaml`."""

    inprocess: bool
    max_output_bytes: Annotated[int, Field(gt=0)]


class PythonAdapter:
    """Calls `function(input)`, or `function(input, seed=…)` where it names a seed; async functions are awaited.

    In a process of its own it is a subprocess skill whose program is ours: same folder, limits and sandbox.
    """

    Options = PythonOptions
    kind = "python"

    def __init__(self, options: PythonOptions, sandbox: Sandbox, *, worker_trials: int | None = None) -> None:
        if options.inprocess and sandbox.name != "none":
            raise _contradiction(sandbox.name)
        self._child = SubprocessAdapter(
            SubprocessOptions(max_output_bytes=options.max_output_bytes),
            sandbox,
            worker_trials=worker_trials,
            reads=(Path(_CHILD),),
        )
        self._python = python_of(sandbox)
        self._words = () if worker_trials is None else (MANY,)
        self._inprocess = InProcess(options.max_output_bytes) if options.inprocess else None

    @property
    def isolation(self) -> str:
        """`worker` where trials share a process, be it this one."""
        return "worker" if self._inprocess is not None else self._child.isolation

    async def invoke(self, call: Call) -> Reply:
        """Call the function once."""
        entrypoint = call.skill.entrypoint.strip()
        if not _ENTRYPOINT.fullmatch(entrypoint):
            message = f"the entrypoint is not module:function but {entrypoint}"
            return Reply(status=Status.SKILL_ERROR, failure_kind="bad_entrypoint", message=message)
        if self._inprocess is not None:
            return await self._inprocess.invoke(call, entrypoint)
        program = shlex.join((self._python, "-I", _CHILD, entrypoint, *self._words))
        return _plain(await self._child.invoke(replace(call, skill=replace(call.skill, entrypoint=program))))

    async def aclose(self) -> None:
        """End the workers."""
        await self._child.aclose()


def _plain(reply: Reply) -> Reply:
    """Take the words of our own protocol out of a failure."""
    message = reply.message or ""
    if reply.failure_kind == "rpc_error" and message.startswith(_RAISED):
        return replace(reply, failure_kind="exception", message=message.removeprefix(_RAISED))
    if reply.failure_kind == "no_reply":
        return replace(reply, message="the function ended its process instead of returning")
    return reply


def _contradiction(sandbox: str) -> SetupError:
    problem = Problem(
        where="config",
        key="adapter.python.inprocess",
        expected=f"false with sandbox={sandbox}",
        found="true",
        hint="code within skilleval runs in no sandbox: choose sandbox=none, or a process of its own",
    )
    return SetupError("python skills cannot be called", problems=(problem,))
