"""`subprocess`: talks JSON-RPC 2.0 with a skill's program over stdin and stdout.

The program is started for each call; with `runner.isolation=worker` it serves many.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from skilleval.adapters.base import Call
from skilleval.adapters.exchange import Cause, Exchange
from skilleval.adapters.hidden import with_hints
from skilleval.adapters.jsonrpc import RpcReply, find_reply, request
from skilleval.adapters.text import MESSAGE_CHARACTERS, compact_json, decoded, excerpt, storable
from skilleval.adapters.usage import reported_usage
from skilleval.adapters.workers import Ask, Program, Workers, program_of
from skilleval.domain.attempts import Reply, Status, Usage
from skilleval.sandboxes.base import Command, Completed, Sandbox
from skilleval.strict import StrictModel

_TRIED_S = 3.0  # must fit into what the runner waits beyond the limit of a call
_SILENT_S = 2.0  # before it is asked what a program of which nothing is known waits for
_TIMES = 5.0  # as long as with its stdin closed: whoever is slower now and then is not that slow
_AT_END = "the program replies only once its stdin is closed"
_FIX = "use runner.isolation=trial"
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


_TOO_DEEP = _Failure(kind="unreadable_reply", message="the reply is nested too deeply")
_HUNG_UP = _Failure(kind="no_reply", message="closed its stdout without a reply")
_UNHEARD = {Cause.TOO_DEEP: _TOO_DEEP, Cause.HUNG_UP: _HUNG_UP}


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

    def __init__(
        self,
        options: SubprocessOptions,
        sandbox: Sandbox,
        *,
        worker_trials: int | None = None,
        reads: tuple[Path, ...] = (),
    ) -> None:
        """Take what all calls share; `reads` is what programs must see beyond the skill's folder."""
        self._max_output_bytes = options.max_output_bytes
        self._reads = reads
        self._sandbox = sandbox
        self._workers = None if worker_trials is None else Workers(sandbox, max_trials=worker_trials)
        self._replies_at_end: dict[Program, float | None] = {}  # seconds it took; null where it does not
        self._one_shot: set[Program] = set()
        self._trying: dict[Program, asyncio.Lock] = {}

    @property
    def isolation(self) -> str:
        """`worker` where a program serves many trials."""
        return "trial" if self._workers is None else "worker"

    async def invoke(self, call: Call) -> Reply:
        """Hand the program the task input, and read its reply."""
        argv = _arguments(call.skill.entrypoint)
        if isinstance(argv, _Failure):
            return _failed(Reply(status=argv.status), argv)
        command = Command(
            argv=argv,
            folder=call.skill.folder,
            env={},
            stdin=b"",
            timeout_s=call.timeout_s,
            max_output_bytes=self._max_output_bytes,
            reads=self._reads,
        )
        if self._workers is None:
            reply = await self._alone(call, command)
        else:
            reply = await self._shared(call, command, self._workers)
        return with_hints(reply, call.skill.folder, self._sandbox)

    async def aclose(self) -> None:
        """End the workers; the sandbox belongs to whoever made it."""
        if self._workers is not None:
            await self._workers.aclose()

    async def _alone(self, call: Call, command: Command) -> Reply:
        environment = {"SKILLEVAL_SEED": str(call.seed), "SKILLEVAL_REPEAT": str(call.repeat)}
        command = replace(command, env=environment, stdin=request(call.input))
        return _reply(await self._sandbox.run(command), command)

    async def _shared(self, call: Call, command: Command, workers: Workers) -> Reply:
        if program_of(command) in self._one_shot:
            return _failed(Reply(status=Status.UNSUPPORTED), _misfit(_AT_END))

        def ask(request_id: int) -> bytes:
            return request(
                call.input, request_id=request_id, trial={"seed": call.seed, "repeat": call.repeat}
            )

        exchange = await self._heard(call, command, workers, ask)
        if exchange is None:
            return _failed(Reply(status=Status.UNSUPPORTED), _misfit(_AT_END))
        reply = _exchanged(exchange, command)
        if reply.status is not Status.TIMEOUT or workers.has_replied(command):
            return reply
        if await self._seconds_at_end(call, command) is not None:
            self._one_shot.add(program_of(command))
            return _failed(reply, _misfit(_AT_END))
        return replace(reply, message=f"{reply.message}; if it waits for the end of its stdin, {_FIX}")

    async def _heard(self, call: Call, command: Command, workers: Workers, ask: Ask) -> Exchange | None:
        """Ask a worker; null as soon as it is plain that it waits for the end of its stdin.

        A program of which no process ever replied is not waited for until its limit: once it has been silent for a
        while, another process is given the same request with its stdin closed. Where that one replies, and the
        first stays silent for several times as long, the open stdin is what it waits for.
        """
        if workers.has_replied(command):
            return await workers.ask(command, ask)
        asking = asyncio.create_task(workers.ask(command, ask))
        trying = asyncio.create_task(self._is_silent(call, command, asking))
        try:
            await asyncio.wait((asking, trying), return_when=asyncio.FIRST_COMPLETED)
            if asking.done() or not await trying or workers.has_replied(command):
                return await asking
            self._one_shot.add(program_of(command))
            return None
        finally:
            await _cancelled(trying)
            await _cancelled(asking)

    async def _is_silent(self, call: Call, command: Command, asking: asyncio.Task[Exchange]) -> bool:
        """Say whether a program is silent far longer than it takes with its stdin closed."""
        if await _is_done(asking, _SILENT_S):
            return False
        seconds = await self._seconds_at_end(call, command)
        return seconds is not None and not await _is_done(asking, max(_SILENT_S, _TIMES * seconds))

    async def _seconds_at_end(self, call: Call, command: Command) -> float | None:
        """Say after how long a program replies once its stdin is closed; null if not. Each is tried once."""
        program = program_of(command)
        async with self._trying.setdefault(program, asyncio.Lock()):
            if program not in self._replies_at_end:
                brief = replace(command, timeout_s=min(call.timeout_s, _TRIED_S))
                began = time.perf_counter()
                reply = await self._alone(call, brief)
                is_reply = reply.status is Status.COMPLETED
                self._replies_at_end[program] = time.perf_counter() - began if is_reply else None
        return self._replies_at_end[program]


async def _is_done(task: asyncio.Task[Exchange], seconds: float) -> bool:
    """Wait for a task, but not longer than that; say whether it is done."""
    await asyncio.wait((task,), timeout=seconds)
    return task.done()


async def _cancelled(task: asyncio.Task[Any]) -> None:
    """End what is not done yet."""
    if not task.done():
        task.cancel()
        await asyncio.wait((task,))


@lru_cache(maxsize=1024)
def _arguments(entrypoint: str) -> tuple[str, ...] | _Failure:
    try:
        argv = tuple(shlex.split(entrypoint))
    except ValueError as error:
        reason = f"the entrypoint cannot be split into arguments: {error}"
        return _Failure(kind="bad_entrypoint", message=reason, retryable=False)
    return argv or _Failure(kind="bad_entrypoint", message="the entrypoint is empty", retryable=False)


def _exchanged(exchange: Exchange, command: Command) -> Reply:
    """Judge what came of a request to a program that serves many."""
    heard: _Answer | _Failure | None = _UNHEARD.get(exchange.cause)
    if exchange.reply is not None:
        heard = _output(exchange.reply) if exchange.misfit is None else _misfit(exchange.misfit)
    reply = replace(_reply(exchange.done, command, heard), spawn_ms=exchange.spawn_ms)
    if reply.message is None or exchange.done.exit_code is None or not exchange.n_before:
        return reply
    n_trials = f"{exchange.n_before} trial{'s' if exchange.n_before > 1 else ''}"
    return replace(reply, message=f"{reply.message} (the process had served {n_trials} before)")


def _misfit(reason: str) -> _Failure:
    # How the skill would have done is not known: it was driven in a way that it does not support.
    message = f"{reason}, so one process cannot serve many trials: {_FIX}"
    return _Failure(kind="no_reply_in_session", message=message, status=Status.UNSUPPORTED, retryable=False)


def _reply(done: Completed, command: Command, heard: _Answer | _Failure | None = None) -> Reply:
    """Judge how a program did, and what it wrote unless its reply was heard already."""
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
    outcome = heard or _cut_off(done, command) or _bad_exit(done) or _answer(text)
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
    if done.limit is not None:
        resource = done.limit.replace("_", " ")
        message = f"reached the sandbox's limit of {resource}: {done.limit_value}"
        return _Failure(kind=f"{done.limit}_limit", message=message)
    return None


def _bad_exit(done: Completed) -> _Failure | None:
    code = done.exit_code
    if code is None:
        return _Failure(kind="not_ended", message="the program cannot be ended", status=Status.SANDBOX_ERROR)
    if code < 0:
        return _Failure(kind="signal", message=f"ended by {_signal_name(-code)}")
    if code > 0:
        last_words = excerpt(done.stderr).strip().rpartition("\n")[2][:MESSAGE_CHARACTERS]
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
    except RecursionError:
        return _TOO_DEEP
    if reply is None:
        return _Failure(kind="no_reply", message=f"exit code 0, but no JSON-RPC reply on stdout{_bare(text)}")
    return _output(reply)


def _bare(text: str) -> str:
    """Tell who wrote a mere result how a reply looks."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    is_reply = isinstance(value, dict) and "jsonrpc" in value
    return "" if is_reply else '; wrap it as {"jsonrpc": "2.0", "id": 1, "result": …}'


def _output(reply: RpcReply) -> _Answer | _Failure:
    try:
        if reply.error is not None:
            return _rpc_error(reply.error)
        output, n_replaced = compact_json(reply.result)
    except RecursionError:
        return _TOO_DEEP
    except ValueError as error:
        return _Failure(kind="unreadable_reply", message=f"the reply is not JSON: {error}")
    return _Answer(output=output, n_replaced=n_replaced, usage=reported_usage(reply.members.get("usage")))


def _rpc_error(error: object) -> _Failure:
    members = error if isinstance(error, dict) else {"message": error}
    code, said = members.get("code"), members.get("message")
    text = said if isinstance(said, str) else compact_json(said)[0]
    place = "" if code is None else f" {code}"
    message = f"JSON-RPC error{place}: {text}"[:MESSAGE_CHARACTERS]
    return _Failure(kind="rpc_error", message=message, retryable=code not in _USELESS_TO_REPEAT)
