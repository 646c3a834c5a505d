from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from naps import Nap

from skilleval.adapters.base import Call
from skilleval.adapters.exchange import Exchange
from skilleval.adapters.subprocess_rpc import SubprocessAdapter, SubprocessOptions
from skilleval.adapters.workers import Workers
from skilleval.domain.attempts import Reply, Status
from skilleval.sandboxes.base import Command, Completed, Session
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

PROGRAM = """
import json, os, sys, time
def say(request, result, **changes):
    reply = {{"jsonrpc": "2.0", "id": request["id"], "result": result, **changes}}
    print(json.dumps({{key: value for key, value in reply.items() if value != "gone"}}), flush=True)
for n, line in enumerate(sys.stdin, start=1):
    request = json.loads(line)
    params = request["params"]
    {body}
"""

Ask = Callable[..., list[Reply]]


def _adapter(*, worker_trials: int = 100, max_output_bytes: int = 100_000) -> SubprocessAdapter:
    options = SubprocessOptions(max_output_bytes=max_output_bytes)
    return SubprocessAdapter(options, NoSandbox(NoSandboxOptions(pass_env=())), worker_trials=worker_trials)


@pytest.fixture
def ask(tmp_path: Path, call: Callable[..., Call]) -> Ask:
    """Give what asks a program once for each of the changes; `body` is what it does with a request."""

    def replies(
        body: str,
        *changes: dict[str, Any],
        entrypoint: str = "python3 skill.py",
        pause_s: float = 0.0,
        **options: Any,
    ) -> list[Reply]:
        (tmp_path / "skill.py").write_text(PROGRAM.format(body=body.replace("\n", "\n    ")))

        async def answers() -> list[Reply]:
            adapter, found = _adapter(**options), []
            try:
                for one in changes:
                    found.append(await adapter.invoke(call(entrypoint, **one)))
                    await asyncio.sleep(pause_s)
            finally:
                await adapter.aclose()
            return found

        return asyncio.run(answers())

    return replies


def _outputs(replies: list[Reply]) -> list[Any]:
    assert [reply.status for reply in replies] == [Status.COMPLETED] * len(replies), replies
    return [json.loads(reply.output or "") for reply in replies]


def test_one_process_serves_many_trials(ask: Ask, tmp_path: Path) -> None:
    """It runs in the skill's folder, is told seed and repeat in each request, and only its first trial starts it."""
    told = 'say(request, [n, os.getcwd(), params, request["skilleval"], "SKILLEVAL_SEED" in os.environ])'
    replies = ask(
        told, {"input": {"a": 1}, "seed": 7, "repeat": 0}, {"input": {"a": 2}, "seed": 8, "repeat": 3}
    )
    folder = str(tmp_path.resolve())
    assert _outputs(replies) == [
        [1, folder, {"a": 1}, {"seed": 7, "repeat": 0}, False],
        [2, folder, {"a": 2}, {"seed": 8, "repeat": 3}, False],
    ]
    first, second = replies
    assert (first.spawn_ms is not None, second.spawn_ms) == (True, None)
    assert second.latency_ms is not None
    assert (second.exit_code, second.stdout, second.stderr, second.retryable) == (None, None, "", False)


def test_a_process_serves_no_more_trials_than_it_may(ask: Ask) -> None:
    """After `worker_trials` trials a fresh one takes over."""
    assert _outputs(ask("say(request, n)", {}, {}, {}, {}, {}, worker_trials=2)) == [1, 2, 1, 2, 1]


def test_there_are_as_many_processes_as_calls_at_once(tmp_path: Path, call: Callable[..., Call]) -> None:
    """Each is used by one call at a time, and kept for the next."""
    (tmp_path / "skill.py").write_text(PROGRAM.format(body="time.sleep(0.1); say(request, os.getpid())"))

    async def rounds() -> list[set[str | None]]:
        adapter, made = _adapter(), call("python3 skill.py")
        found = [
            {reply.output for reply in await asyncio.gather(*(adapter.invoke(made) for _ in range(n)))}
            for n in (3, 3, 2)
        ]
        await adapter.aclose()
        return found

    first, second, third = asyncio.run(rounds())
    assert len(first) == 3
    assert first == second
    assert len(third) == 2
    assert third < first


@pytest.mark.parametrize(
    "body",
    [
        'print("log line", {"a": 1}); say(request, n)',
        'print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": n}, indent=2), flush=True)',
        'json.dump({"jsonrpc": "2.0", "id": request["id"], "result": n}, sys.stdout); sys.stdout.flush()',
        'print("50%\\r\\x1b[32mdone", end=" "); say(request, n); print("bye")',
        'say(request, n, id=str(request["id"]))',
        'say(request, "stale", id=request["id"] - 1) if n > 1 else 0; say(request, n)',
        'say(request, "not ours", id=77); say(request, n)',
        "say(request, n); say(request, 'again')",
    ],
)
def test_a_reply_is_found_among_noise(ask: Ask, body: str) -> None:
    """Log lines, layout, line ends and replies to other requests do not spoil or shift the replies."""
    assert _outputs(ask(body, {}, {}, {})) == [1, 2, 3]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("say(request, n, id=1)", "the reply has the id 1 and not that of the request"),
        ("say(request, n, id=None)", "the reply has no id"),
        ('say(request, n, id="gone")', "the reply has no id"),
        (
            'print("done", json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": n}), end="!", flush=True)',
            "the reply does not stand on a line of its own",
        ),
    ],
)
def test_a_reply_that_may_belong_to_any_trial_is_none(ask: Ask, body: str, reason: str) -> None:
    """Such a skill cannot be driven this way, which is not held against it, and the message says what to do."""
    for reply in ask(body, {"timeout_s": 1.0}, {"timeout_s": 1.0}):
        assert (reply.status, reply.failure_kind) == (Status.UNSUPPORTED, "no_reply_in_session")
        fix = "so one process cannot serve many trials: use runner.isolation=trial"
        assert (reply.message, reply.retryable, reply.output) == (f"{reason}, {fix}", False, None)


def test_a_program_that_waits_for_the_end_of_its_input_is_told_apart(ask: Ask) -> None:
    """It is found out at its first time-out; later trials do not wait for theirs."""
    once = (
        'import json, sys; r = json.load(sys.stdin); print(json.dumps({"jsonrpc": "2.0", "result": r["id"]}))'
    )
    started = time.monotonic()
    limits = ({"timeout_s": 1.0}, *({"timeout_s": 60.0},) * 3)
    replies = ask("", *limits, entrypoint=f"python3 -c '{once}'")
    assert time.monotonic() - started < 50
    said = "the program replies only once its stdin is closed, so one process cannot serve many trials: "
    verdict = (Status.UNSUPPORTED, "no_reply_in_session", f"{said}use runner.isolation=trial")
    assert [(reply.status, reply.failure_kind, reply.message) for reply in replies] == [verdict] * 4


def test_a_program_for_one_request_is_not_waited_for_until_its_limit(ask: Ask) -> None:
    """Long before, a second process that replies with its stdin closed tells what the first one waits for."""
    once = (
        'import json, sys; r = json.load(sys.stdin); print(json.dumps({"jsonrpc": "2.0", "result": r["id"]}))'
    )
    started = time.monotonic()
    replies = ask("", {"timeout_s": 60.0}, {"timeout_s": 60.0}, entrypoint=f"python3 -c '{once}'")
    assert time.monotonic() - started < 50
    assert [reply.failure_kind for reply in replies] == ["no_reply_in_session"] * 2


def test_a_program_that_is_slow_at_first_is_no_program_for_one_request(ask: Ask) -> None:
    """It replies with its stdin closed too, but the open one is no reason for it to be silent."""
    body = "time.sleep(2.3 if n == 1 else 0); say(request, n)"
    replies = ask(body, {"timeout_s": 60.0}, {"timeout_s": 60.0})
    assert [(reply.status, reply.output) for reply in replies] == [
        (Status.COMPLETED, "1"),
        (Status.COMPLETED, "2"),
    ]


def test_a_slow_start_that_outlasts_the_second_process_is_forgiven(ask: Ask, tmp_path: Path) -> None:
    """Whoever replies within several times what it takes with its stdin closed can be driven so."""
    body = f"""if not os.path.exists({str(tmp_path / "warm")!r}):
    open({str(tmp_path / "warm")!r}, "w").close()
    time.sleep(3)
say(request, n)"""
    replies = ask(body, {"timeout_s": 60.0}, {"timeout_s": 60.0})
    assert [(reply.status, reply.output) for reply in replies] == [
        (Status.COMPLETED, "1"),
        (Status.COMPLETED, "2"),
    ]


def test_a_time_out_ends_the_process_with_all_it_started(ask: Ask, nap: Nap) -> None:
    """The next trial gets a fresh one; who never replied may have waited for the end of its input."""
    body = f'import subprocess; subprocess.run(["sleep", "{nap.seconds}"]) if params else say(request, n)'
    limit: dict[str, Any] = {"timeout_s": 0.3}
    nothing: dict[str, Any] = {"input": {}}
    never, first, late, fresh = ask(body, limit, nothing, limit, nothing)
    assert (never.status, never.failure_kind) == (Status.TIMEOUT, "timeout")
    hint = "if it waits for the end of its stdin, use runner.isolation=trial"
    assert never.message == f"not done within 0.3 s; {hint}"
    assert late.message == "not done within 0.3 s (the process had served 1 trial before)"
    assert late.latency_ms is not None
    assert 300 <= late.latency_ms < 20_000
    assert _outputs([first, fresh]) == [1, 1]
    assert fresh.spawn_ms is not None
    assert nap.sleepers() == []


def test_a_crash_is_held_against_the_trial_that_runs(ask: Ask) -> None:
    """It says how the process ended and what it served before; the next trial gets a fresh one."""
    body = (
        'print("last words", file=sys.stderr) or print("noise") or sys.exit(3) if n == 3 else say(request, n)'
    )
    replies = ask(body, {}, {}, {}, {})
    crash = replies.pop(2)
    assert (crash.status, crash.failure_kind, crash.exit_code) == (Status.SKILL_ERROR, "exit_code", 3)
    assert crash.message == "exit code 3: last words (the process had served 2 trials before)"
    assert (crash.stdout, crash.stderr, crash.retryable) == ("noise\n", "last words\n", True)
    assert _outputs(replies) == [1, 2, 1]


def test_a_process_that_leaves_in_peace_is_replaced_quietly(ask: Ask) -> None:
    """A program made for one request serves one trial after the other, each in a fresh process."""
    assert _outputs(ask("say(request, n); sys.exit(0)", {}, {}, {})) == [1, 1, 1]


def test_leaving_without_a_reply_is_no_reply(ask: Ask) -> None:
    """In a fresh process too: then it is held against the trial."""
    body = "say(request, n) if params else sys.exit(0)"
    first, second = ask(body, {"input": {"a": 1}}, {"input": {}})
    assert _outputs([first]) == [1]
    assert (second.status, second.failure_kind) == (Status.SKILL_ERROR, "no_reply")
    assert second.message == "exit code 0, but no JSON-RPC reply on stdout"


def test_a_crash_between_trials_is_held_against_nobody(ask: Ask) -> None:
    """What ended while it had nothing to do is replaced before the next trial."""
    assert _outputs(ask("say(request, n); os.kill(os.getpid(), 9)", {}, {}, pause_s=0.2)) == [1, 1]


def test_a_program_without_stdin_answers_its_first_trial(ask: Ask) -> None:
    """What was printed when a process ended well is read to its last byte, however it is laid out."""
    once = 'print("ready:", {}, end="")'.format('\'{"jsonrpc": "2.0", "id": 2, "result": 5}\'')
    assert _outputs(ask("", {}, entrypoint=f'python3 -c "{once.replace(chr(34), chr(92) + chr(34))}"')) == [5]


def test_a_program_that_hangs_up_has_not_replied(ask: Ask) -> None:
    """That it is ended then is nothing that it did itself."""
    first, second, third = ask("os.close(1) if n == 2 else say(request, n)", {}, {}, {})
    assert (second.status, second.failure_kind) == (Status.SKILL_ERROR, "no_reply")
    assert second.message == "closed its stdout without a reply (the process had served 1 trial before)"
    assert _outputs([first, third]) == [1, 1]


def test_c30_a_reply_beyond_the_cap_is_an_error(ask: Ask) -> None:
    """The process is ended; a reply of exactly the cap is read, and what earlier trials printed does not count."""
    body = (
        'sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "x" * params["n"]}))'
    )
    body += "; sys.stdout.flush()"
    overhead = len('{"jsonrpc": "2.0", "id": 2, "result": ""}')
    sizes = [{"input": {"n": n}} for n in (5000 - overhead, 5000 - overhead, 5001 - overhead, 1)]
    first, second, third, fourth = ask(body, *sizes, max_output_bytes=5000)
    assert [len(output) for output in _outputs([first, second, fourth])] == [4959, 4959, 1]
    assert (third.status, third.failure_kind, third.output) == (Status.SKILL_ERROR, "output_limit", None)
    assert third.message is not None
    assert third.message.startswith("wrote at least 5001 bytes to stdout, the limit is 5000")
    assert fourth.spawn_ms is not None


def test_c30_endless_output_is_cut_off(ask: Ask) -> None:
    """A program that never stops printing is ended, at once."""
    (reply,) = ask("", {}, entrypoint="yes", max_output_bytes=10_000)
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "output_limit")


def test_stderr_stays_with_its_trial(ask: Ask) -> None:
    """Evidence is only what was written during the trial."""
    replies = ask('print("trial", n, file=sys.stderr); say(request, n)', {}, {}, {})
    assert [reply.stderr for reply in replies] == ["trial 1\n", "trial 2\n", "trial 3\n"]


def test_a_process_that_wrote_too_much_to_stderr_is_replaced(ask: Ask) -> None:
    """Beyond the cap nobody could say what of it belongs to which trial."""
    replies = ask(
        'print("x" * 400, n, file=sys.stderr); say(request, n)', {}, {}, {}, {}, max_output_bytes=1000
    )
    assert _outputs(replies) == [1, 2, 3, 1]


def test_an_error_reply_keeps_the_process(ask: Ask) -> None:
    """The skill's errors are replies like others; one without an id is the last of its process."""
    body = (
        'error = {"code": -32602, "message": "no"}\n'
        'say(request, "gone", error=error, id=None if n == 3 else request["id"]) if n > 1 else say(request, n)'
    )
    replies = ask(body, {}, {}, {}, {})
    said = [(reply.failure_kind, reply.message, reply.output) for reply in replies]
    failed = ("rpc_error", "JSON-RPC error -32602: no", None)
    assert said == [(None, None, "1"), failed, failed, (None, None, "1")]


def test_a_reply_nested_too_deeply_costs_the_process(ask: Ask) -> None:
    """It is an error of its own."""
    body = (
        'deep = "[" * 40000 + "]" * 40000 if n == 2 else n\n'
        'print(\'{"jsonrpc":"2.0","id":%d,"result":%s}\' % (request["id"], deep), flush=True)'
    )
    first, second, third = ask(body, {}, {}, {})
    assert (second.failure_kind, second.message) == ("unreadable_reply", "the reply is nested too deeply")
    assert _outputs([first, third]) == [1, 1]


def test_es21_a_program_may_print_while_it_reads(ask: Ask) -> None:
    """Input and noise that fill both pipes do not lock each other out."""
    body = 'say(request, len(params["text"]))'
    chatty = "print('y' * 70_000 + '\\n' * 9, flush=True);" * 12
    program = f"{chatty} import json, sys; l = sys.stdin.readline(); r = json.loads(l); "
    program += "print(json.dumps(dict(jsonrpc='2.0', id=r['id'], result=len(l))), flush=True); input()"
    given = {"input": {"text": "x" * 1_000_000}, "timeout_s": 10.0}
    (reply,) = ask(body, given, entrypoint=f'python3 -c "{program}"', max_output_bytes=2_000_000)
    assert _outputs([reply]) == [1_000_098]


@pytest.mark.parametrize(
    ("entrypoint", "verdict"),
    [
        ("surely-no-such-program x", (Status.UNSUPPORTED, "program_not_found", False)),
        ("./surely-no-such-file", (Status.SKILL_ERROR, "program_missing", False)),
        ("'unbalanced", (Status.SKILL_ERROR, "bad_entrypoint", False)),
    ],
)
def test_what_cannot_start_says_whose_fault_it_is(
    ask: Ask, entrypoint: str, verdict: tuple[Status, str, bool]
) -> None:
    """As where each trial has a process of its own."""
    (reply,) = ask("", {}, entrypoint=entrypoint)
    assert (reply.status, reply.failure_kind, reply.retryable) == verdict
    assert (reply.latency_ms, reply.spawn_ms) == (None, None)


def test_a_cancelled_call_ends_its_process(call: Callable[..., Call], nap: Nap) -> None:
    """Nobody sleeps on once the cancellation has taken effect."""
    entrypoint = f"sleep {nap.seconds}"

    async def cancelled() -> None:
        adapter = _adapter()
        task = asyncio.create_task(adapter.invoke(call(entrypoint)))
        await asyncio.to_thread(nap.wait_for, 1)
        task.cancel()
        assert isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)
        assert nap.sleepers() == []
        await adapter.aclose()

    asyncio.run(cancelled())


def test_idle_processes_end_with_the_adapter(tmp_path: Path, call: Callable[..., Call], nap: Nap) -> None:
    """They live until then, with what they started."""
    body = f'import subprocess; subprocess.Popen(["sleep", "{nap.seconds}"]); say(request, n)'
    (tmp_path / "skill.py").write_text(PROGRAM.format(body=body))

    async def closed() -> None:
        adapter = _adapter()
        await adapter.invoke(call("python3 skill.py"))
        await asyncio.to_thread(nap.wait_for, 1)
        await adapter.aclose()

    asyncio.run(closed())
    assert nap.sleepers() == []


def test_idle_processes_are_not_hoarded(tmp_path: Path, call: Callable[..., Call]) -> None:
    """Of more skills than 32 that were asked one by one, the one that waited longest is ended."""
    (tmp_path / "skill.py").write_text(PROGRAM.format(body="say(request, [n, os.getpid()])"))

    async def outputs() -> list[Any]:
        adapter = _adapter()
        numbers = [*range(33), 32, 0]
        replies = [await adapter.invoke(call(f"python3 -S skill.py {number}")) for number in numbers]
        await adapter.aclose()
        return _outputs(replies)

    found = asyncio.run(outputs())
    assert found[33] == [2, found[32][1]]
    assert found[34][0] == 1


class Spent:
    """A session of a program that answers its first request; at the second one a limit of the sandbox is used up."""

    stderr = b""

    def __init__(self, limit: str | None, exit_code: int) -> None:
        self._limit, self._exit_code = limit, exit_code
        self._waiting: list[bytes] = []
        self._n_sent = 0

    async def send(self, data: bytes) -> None:
        """Answer the first time."""
        self._n_sent += 1
        answer = {"jsonrpc": "2.0", "id": json.loads(data)["id"], "result": self._n_sent}
        self._waiting.append(json.dumps(answer).encode() + b"\n" if self._n_sent == 1 else b"")

    def end_input(self) -> None:
        """Hear no more."""

    async def receive(self) -> bytes:
        """Give the answer, or nothing any more."""
        return self._waiting.pop(0)

    async def ended(self) -> None:
        """Be over."""

    async def aclose(self) -> Completed:
        """Say what ended it."""
        return Completed(
            exit_code=self._exit_code,
            stdout=b"",
            stderr=b"",
            duration_ms=1.0,
            spawn_ms=1.0,
            limit=self._limit,
            limit_value="60 s",
        )


class SpentSandbox(NoSandbox):
    """Starts such programs."""

    def __init__(self, limit: str | None, exit_code: int) -> None:
        super().__init__(NoSandboxOptions(pass_env=()))
        self._end = (limit, exit_code)
        self.n_started = 0

    async def open(self, command: Command) -> Session:  # type: ignore[override]
        """Start one."""
        assert command.stdin == b""
        self.n_started += 1
        return Spent(*self._end)


@pytest.mark.parametrize(
    ("limit", "exit_code", "n_started", "result"),
    [("cpu", -24, 2, 1), ("memory", -9, 2, 1), (None, 0, 2, 1), (None, -9, 1, None), (None, 3, 1, None)],
)
def test_a_limit_that_trials_shared_is_held_against_none(
    limit: str | None, exit_code: int, n_started: int, result: int | None
) -> None:
    """The trial that meets it is asked again in a fresh process, where the whole limit is its own."""
    sandbox = SpentSandbox(limit, exit_code)
    command = Command(argv=("x",), folder=Path(), env={}, stdin=b"", timeout_s=5.0, max_output_bytes=1000)

    async def second() -> Exchange:
        workers = Workers(sandbox, max_trials=100)
        for _ in range(2):
            exchange = await workers.ask(command, lambda request_id: json.dumps({"id": request_id}).encode())
        await workers.aclose()
        return exchange

    exchange = asyncio.run(second())
    assert (sandbox.n_started, exchange.reply.result if exchange.reply else None) == (n_started, result)
