"""`subprocess`: starts a skill's program for each call and talks JSON-RPC 2.0 with it over stdin and stdout."""

from __future__ import annotations

import shlex
import signal
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from skilleval.adapters.base import Call
from skilleval.adapters.jsonrpc import find_reply, request
from skilleval.adapters.text import compact_json, decoded, excerpt, storable
from skilleval.adapters.usage import reported_usage
from skilleval.domain import Reply, Status, Usage
from skilleval.sandboxes.base import Command, Completed, Sandbox
from skilleval.strict import StrictModel

_MESSAGE_CHARACTERS = 500
_USELESS_TO_REPEAT = (
    -32601,
    -32602,
)  # method not found, invalid params: the same request meets the same answer
_NOT_STARTED = {
    "program_not_found": Status.UNSUPPORTED,  # this machine lacks the interpreter: not the skill's fault
    "program_missing": Status.SKILL_ERROR,  # the skill names a file that it does not have
}


class SubprocessOptions(StrictModel):
    """`conf/adapter/subprocess.yaml`."""

    max_output_bytes: Annotated[int, Field(gt=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """Why there is no output to use."""

    kind: str
    message: str
    status: Status = Status.SKILL_ERROR
    retryable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """Output to use, and what came with it."""

    output: str
    n_replaced: int
    usage: Usage


class SubprocessAdapter:
    """Runs the entrypoint in the skill's own folder, as an argument list: no shell ever sees it."""

    Options = SubprocessOptions
    kind = "subprocess"

    def __init__(self, options: SubprocessOptions, sandbox: Sandbox) -> None:
        self._max_output_bytes = options.max_output_bytes
        self._sandbox = sandbox

    async def invoke(self, call: Call) -> Reply:
        """Start the program, hand it the task input, and read its reply."""
        argv = _arguments(call.skill.entrypoint)
        if isinstance(argv, _Failure):
            return _failed(Reply(status=argv.status), argv)
        command = Command(
            argv=argv,
            folder=call.skill.folder,
            env={"SKILLEVAL_SEED": str(call.seed), "SKILLEVAL_REPEAT": str(call.repeat)},
            stdin=request(call.input),
            timeout_s=call.timeout_s,
            max_output_bytes=self._max_output_bytes,
        )
        return _reply(await self._sandbox.run(command), command)

    async def aclose(self) -> None:
        """Nothing is held between calls; the sandbox belongs to whoever made it."""


def _arguments(entrypoint: str) -> tuple[str, ...] | _Failure:
    try:
        argv = tuple(shlex.split(entrypoint))
    except ValueError as error:
        reason = f"the entrypoint cannot be split into arguments: {error}"
        return _Failure(kind="bad_entrypoint", message=reason, retryable=False)
    return argv or _Failure(kind="bad_entrypoint", message="the entrypoint is empty", retryable=False)


def _reply(done: Completed, command: Command) -> Reply:
    if done.not_started is not None:
        failure = _not_started(done.not_started)
        return _failed(Reply(status=failure.status), failure)
    text, n_wrong = decoded(done.stdout, is_cut=done.output_limit or done.timed_out)
    evidence = Reply(
        status=Status.COMPLETED,
        latency_ms=done.duration_ms,
        spawn_ms=done.spawn_ms,
        stderr=excerpt(done.stderr),
        exit_code=done.exit_code,
        output_bytes=done.stdout_bytes,
        output_encoding_errors=n_wrong,
    )
    outcome = _cut_off(done, command) or _bad_exit(done) or _answer(text)
    if isinstance(outcome, _Failure):
        return _failed(replace(evidence, stdout=excerpt(done.stdout)), outcome)
    n_wrong += outcome.n_replaced
    return replace(evidence, output=outcome.output, output_encoding_errors=n_wrong, usage=outcome.usage)


def _failed(evidence: Reply, failure: _Failure) -> Reply:
    return replace(
        evidence,
        status=failure.status,
        failure_kind=failure.kind,
        message=storable(failure.message)[0],
        retryable=failure.retryable,
    )


def _not_started(reason: str) -> _Failure:
    kind, _, message = reason.partition(": ")
    status = _NOT_STARTED.get(kind, Status.SANDBOX_ERROR)
    return _Failure(kind=kind, message=message, status=status, retryable=status is Status.SANDBOX_ERROR)


def _cut_off(done: Completed, command: Command) -> _Failure | None:
    if done.timed_out:
        message = f"not done within {command.timeout_s:g} s"
        return _Failure(kind="timeout", message=message, status=Status.TIMEOUT)
    if done.output_limit:
        name, seen = max(
            ("stdout", done.stdout_bytes), ("stderr", done.stderr_bytes), key=lambda pair: pair[1]
        )
        message = f"wrote at least {seen} bytes to {name}, the limit is {command.max_output_bytes}"
        return _Failure(kind="output_limit", message=message)
    return None


def _bad_exit(done: Completed) -> _Failure | None:
    code = done.exit_code
    if code is None:
        return _Failure(kind="not_ended", message="the program cannot be ended", status=Status.SANDBOX_ERROR)
    if code < 0:
        return _Failure(kind="signal", message=f"ended by {_signal_name(-code)}")
    if code > 0:
        last_words = excerpt(done.stderr).strip().rpartition("\n")[2][:_MESSAGE_CHARACTERS]
        return _Failure(kind="exit_code", message=f"exit code {code}: {last_words}".removesuffix(": "))
    return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no names
        return f"signal {number}"


def _answer(text: str) -> _Answer | _Failure:
    try:
        reply = find_reply(text)
        if reply is None:
            return _Failure(kind="no_reply", message="exit code 0, but no JSON-RPC reply on stdout")
        if reply.error is not None:
            return _rpc_error(reply.error)
        output, n_replaced = compact_json(reply.result)
    except RecursionError:
        return _Failure(kind="unreadable_reply", message="the reply is nested too deeply")
    except ValueError as error:
        return _Failure(kind="unreadable_reply", message=f"the reply is not JSON: {error}")
    return _Answer(output=output, n_replaced=n_replaced, usage=reported_usage(reply.members.get("usage")))


def _rpc_error(error: object) -> _Failure:
    members = error if isinstance(error, dict) else {"message": error}
    code, said = members.get("code"), members.get("message")
    text = said if isinstance(said, str) else compact_json(said)[0]
    place = "" if code is None else f" {code}"
    message = f"JSON-RPC error{place}: {text}"[:_MESSAGE_CHARACTERS]
    return _Failure(kind="rpc_error", message=message, retryable=code not in _USELESS_TO_REPEAT)
