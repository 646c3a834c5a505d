"""`langchain`: invokes a Runnable or tool `module:attribute` of the skill's folder, in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from skilleval.adapters.base import Call
from skilleval.adapters.interpreter import python_of
from skilleval.adapters.python_child import EXCEPTION, MANY
from skilleval.adapters.subprocess_rpc import SubprocessAdapter, SubprocessOptions
from skilleval.adapters.text import compact_json, parsed_json
from skilleval.adapters.usage import reported_usage
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.skills import Skill
from skilleval.errors import Problem, SetupError
from skilleval.sandboxes.base import Sandbox
from skilleval.strict import StrictModel

_NAME = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
_ENTRYPOINT = re.compile(f"{_NAME}:{_NAME}")
_PROGRAM = Path(__file__).with_name("langchain_child.py")
_PROTOCOL = Path(__file__).with_name("python_child.py")
_LIBRARY = "langchain_core"
_INSTALL = "pip install 'skilleval[langchain]'"
_RAISED = f"JSON-RPC error {EXCEPTION}: "
_ABSENT = f"No module named '{_LIBRARY}"


class LangchainOptions(StrictModel):
    """`conf/adapter/langchain.yaml`, where each option is explained."""

    input_key: str
    asynchronous: bool
    config: Mapping[str, Any]
    max_output_bytes: Annotated[int, Field(gt=0)]


class LangchainAdapter:
    """Calls `.invoke(input)` or, where that is all there is, `.ainvoke(input)`.

    The process is that of a `python` skill: same folder, limits and sandbox; only what it calls differs.
    """

    Options = LangchainOptions
    kind = "langchain"

    def __init__(
        self, options: LangchainOptions, sandbox: Sandbox, *, worker_trials: int | None = None
    ) -> None:
        self._child = SubprocessAdapter(
            SubprocessOptions(max_output_bytes=options.max_output_bytes),
            sandbox,
            worker_trials=worker_trials,
            reads=(_PROGRAM, _PROTOCOL),
        )
        self._python = python_of(sandbox)
        told = json.dumps(options.model_dump(exclude={"max_output_bytes"}))
        self._words = (told,) if worker_trials is None else (told, MANY)

    @property
    def isolation(self) -> str:
        """`worker` where trials share a process."""
        return self._child.isolation

    def check(self, skill: Skill) -> None:
        """Make sure, before the first trial, that the library is there and the entrypoint can be a Runnable.

        Raises:
            SetupError: one of both is not so; it says what to do.
        """
        is_ours = self._python == sys.executable
        if is_ours and importlib.util.find_spec(_LIBRARY) is None:
            raise _refusal(
                skill, "adapterType", "the library langchain-core", "it is not installed", _INSTALL
            )
        if not _ENTRYPOINT.fullmatch(skill.entrypoint.strip()):
            raise _refusal(skill, "entrypoint", "module:attribute, e.g. chain:chain", skill.entrypoint)

    async def invoke(self, call: Call) -> Reply:
        """Invoke the Runnable once."""
        entrypoint = call.skill.entrypoint.strip()
        if not _ENTRYPOINT.fullmatch(entrypoint):
            message = f"the entrypoint is not module:attribute but {entrypoint}"
            return Reply(status=Status.SKILL_ERROR, failure_kind="bad_entrypoint", message=message)
        program = shlex.join((self._python, "-I", str(_PROGRAM), entrypoint, *self._words))
        return _plain(await self._child.invoke(replace(call, skill=replace(call.skill, entrypoint=program))))

    async def aclose(self) -> None:
        """End the workers."""
        await self._child.aclose()


def _plain(reply: Reply) -> Reply:
    """Take the result apart, and the words of our own protocol out of a failure."""
    if reply.output is not None:
        result: Any = parsed_json(reply.output)
        return replace(reply, output=compact_json(result["output"])[0], usage=reported_usage(result["usage"]))
    message = reply.message or ""
    if reply.failure_kind == "rpc_error" and message.startswith(_RAISED):
        said = message.removeprefix(_RAISED)
        if _ABSENT in said:  # the interpreter of the sandbox is not ours
            return replace(
                reply,
                status=Status.UNSUPPORTED,
                failure_kind="library_missing",
                message=f"{said}; for the Python of the sandbox: {_INSTALL}",
                retryable=False,
            )
        return replace(reply, failure_kind="exception", message=said)
    if reply.failure_kind == "no_reply":
        return replace(reply, message="the process ended instead of giving a result")
    return reply


def _refusal(skill: Skill, key: str, expected: str, found: str, hint: str = "") -> SetupError:
    problem = Problem(where=str(skill.source), key=key, expected=expected, found=found, hint=hint)
    return SetupError("a langchain skill cannot be called", problems=(problem,))
