from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cases import case_input
from mcp_servers import PYTHON, WITH_SDK, mcp_call, mcp_options, replies_of, write_scripted
from naps import Nap

from skilleval.adapters.base import isolation
from skilleval.adapters.mcp.adapter import McpAdapter
from skilleval.domain.attempts import Reply, Status
from skilleval.sandboxes.cgroups import usable_hierarchies
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions
from skilleval.sandboxes.process import ProcessOptions, ProcessSandbox

Ask = Callable[..., Reply]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Give what asks a scripted server once; `body` is what it does when its tool is called."""

    def reply(body: str, *, before: str = "", options: dict[str, Any] | None = None, **changes: Any) -> Reply:
        write_scripted(tmp_path, body, before=before)
        (one,) = replies_of([mcp_call(tmp_path, **changes)], **(options or {}))
        return one

    return reply


def test_c31_a_result_that_is_an_error_is_a_failure_with_its_text(ask: Ask) -> None:
    """`isError` counts, whatever stands in the result beside it: nothing is scored."""
    result = case_input("C31")["result"]
    reply = ask(f"say(id=id, result=json.loads({json.dumps(result)!r}))")
    assert (reply.status, reply.failure_kind, reply.message) == (Status.SKILL_ERROR, "tool_error", "42")
    assert reply.output is None


def test_c31_an_error_without_a_word_is_a_failure(ask: Ask) -> None:
    """An empty list of content makes no success of it."""
    reply = ask('say(id=id, result={"content": [], "isError": True})')
    assert (reply.status, reply.message) == (Status.SKILL_ERROR, "the tool failed without a word")


def test_c32_a_server_that_never_shakes_hands_is_ended(tmp_path: Path, nap: Nap) -> None:
    """A banner, deafness to SIGTERM and no handshake: a time-out that shows the banner, and no child left."""
    case = case_input("C32")
    entrypoint = case["server"].replace("99", nap.seconds)
    began = time.monotonic()
    (reply,) = replies_of(
        [mcp_call(tmp_path, entrypoint, timeout_s=case["timeoutMs"] / 1000)], start_timeout_ms=1500.0
    )
    assert time.monotonic() - began < 25
    assert (reply.status, reply.failure_kind) == (Status.TIMEOUT, "start_timeout")
    assert reply.message == (
        "the server did not finish the handshake within 1.5 s; it wrote to stdout: Welcome!"
    )
    assert nap.sleepers() == []


def test_c32_a_server_that_stops_after_the_handshake_is_ended_too(ask: Ask, nap: Nap) -> None:
    """It ignores SIGTERM, starts a child and answers no call: both are gone when the call is."""
    deaf = (
        f"import subprocess; subprocess.Popen(['sleep', '{nap.seconds}']); signal.signal(15, signal.SIG_IGN)"
    )
    reply = ask(f"time.sleep({nap.seconds})", before=deaf, timeout_s=0.3)
    assert reply.status is Status.TIMEOUT
    assert nap.sleepers() == []


TIDIES_UP = "import atexit, pathlib; atexit.register(lambda: pathlib.Path('tidy').touch())"
"""Leaves a file when it ends by itself, and only then."""


def test_c32_a_server_that_has_answered_is_told_the_end_first(ask: Ask, tmp_path: Path) -> None:
    """Its stdin is closed, and it may tidy up before it is gone."""
    assert ask("say(id=id, result=text('1'))", before=TIDIES_UP).status is Status.COMPLETED
    assert (tmp_path / "tidy").exists()


def test_c32_a_server_that_does_not_leave_is_ended(ask: Ask, nap: Nap) -> None:
    """Deaf to the end of its stdin and to signals, it costs a moment and no more; its child goes with it."""
    deaf = f"import atexit, subprocess; signal.signal(15, signal.SIG_IGN); atexit.register(time.sleep, {nap.seconds})"
    began = time.monotonic()
    reply = ask(f"subprocess.Popen(['sleep', '{nap.seconds}']); say(id=id, result=text('1'))", before=deaf)
    assert reply.status is Status.COMPLETED
    assert time.monotonic() - began < 25
    assert nap.sleepers() == []


def test_c32_a_server_that_had_its_time_is_told_nothing(ask: Ask, tmp_path: Path) -> None:
    """After a time-out it is ended at once: nothing of it goes on."""
    reply = ask("time.sleep(20)", before=TIDIES_UP, timeout_s=0.3)
    assert reply.status is Status.TIMEOUT
    assert not (tmp_path / "tidy").exists()


def test_es08_the_limit_of_a_call_is_kept_and_the_start_is_no_part_of_it(ask: Ask) -> None:
    """A tool that takes its time is given up after its limit, which the slow start has not eaten up."""
    began = time.perf_counter()
    reply = ask("time.sleep(25)", before="time.sleep(0.5)", timeout_s=0.4)
    took_ms = (time.perf_counter() - began) * 1000
    assert (reply.status, reply.failure_kind, reply.message) == (
        Status.TIMEOUT,
        "timeout",
        "not done within 0.4 s",
    )
    assert reply.latency_ms is not None
    assert reply.spawn_ms is not None
    assert 400 <= reply.latency_ms <= took_ms - 500
    assert took_ms < 25_000
    assert reply.spawn_ms >= 500


STOPS_READING = """
answer = say
def say(**members):
    answer(**members)
    "inputSchema" in str(members) and time.sleep(30)
"""
"""Shakes hands, lists its tools, and takes nothing after that."""


def test_a_server_that_does_not_read_cannot_hold_up_the_limit(ask: Ask) -> None:
    """A megabyte that nobody takes is given up in time."""
    began = time.monotonic()
    reply = ask("pass", before=STOPS_READING, input={"a": "x" * 1_000_000}, timeout_s=0.5)
    assert (reply.status, reply.failure_kind) == (Status.TIMEOUT, "timeout")
    assert time.monotonic() - began < 25


NOISE = r"""
print("Welcome!")
print("\x1b[32m[info]\x1b[0m {not: json}")
print('{"level": "info", "msg": "a log line"}')
print("[1, 2]")
say(method="notifications/message", params={"level": "info", "data": "working"})
say(method="notifications/progress", params={"progressToken": 1, "progress": 0.5})
say(method="notifications/of_its_own", params={})
say(id="never-asked", result={})
sys.stdout.write("loading... ")
"""


def test_banners_logs_and_progress_are_noise(ask: Ask) -> None:
    """What is no answer is passed over, before the handshake as during a call, even on the answer's own line."""
    reply = ask(f'{NOISE}say(id=id, result=text("3"))', before=NOISE)
    assert (reply.status, reply.output, reply.stdout) == (Status.COMPLETED, "3", None)


NO_UTF8 = r"""
content = b'[{"type": "text", "text": "\xff!"}]'
sys.stdout.buffer.write(b'{"jsonrpc": "2.0", "id": %d, "result": {"content": %s}}\n' % (id, content))
sys.stdout.flush()
"""


def test_damage_to_the_encoding_is_counted(ask: Ask) -> None:
    """Bytes that are not UTF-8 are replaced, as for every adapter; so are lone surrogates."""
    broken = ask(NO_UTF8)
    assert (broken.output, broken.output_encoding_errors) == ('"\ufffd!"', 1)
    lone = ask(r'say(id=id, result={"content": [], "structuredContent": {"a": "\ud800"}})')
    assert (lone.output, lone.output_encoding_errors) == ('{"a":"\ufffd"}', 1)


@pytest.mark.parametrize(
    ("body", "kind", "message", "exit_code"),
    [
        (
            'sys.stderr.write("no disk\\n"); sys.exit(3)',
            "exit_code",
            "the server ended with exit code 3; it wrote to stderr: no disk",
            3,
        ),
        ("os.kill(os.getpid(), 9)", "signal", "the server was ended by SIGKILL", -9),
        ("sys.exit(0)", "no_reply", "the server ended with exit code 0 and without a reply", 0),
        (
            "os.close(1); time.sleep(20)",
            "no_reply",
            "the server closed its stdout without a reply",
            None,
        ),
    ],
)
def test_a_server_that_goes_away_during_a_call_failed(
    ask: Ask, body: str, kind: str, message: str, exit_code: int | None
) -> None:
    """How it went is told, with what it said last."""
    reply = ask(body)
    assert (reply.status, reply.failure_kind, reply.message) == (Status.SKILL_ERROR, kind, message)
    assert (reply.exit_code, reply.retryable) == (exit_code, True)


def test_what_a_server_lacks_gets_the_setting_that_may_help(ask: Ask) -> None:
    """A variable that is set here and that the server or its tool misses may have been kept from it."""
    hint = "(the sandbox may hide it: sandbox.pass_env=[PATH])"
    for body in (
        "sys.exit(\"KeyError: 'PATH'\")",
        "say(id=id, result=text(\"KeyError: 'PATH'\", isError=True))",
    ):
        assert str(ask(body).message).endswith(hint)


def test_more_output_than_allowed_ends_the_server(ask: Ask) -> None:
    """The cap holds for all that is written in a call, one line or many."""
    reply = ask('sys.stdout.write("x" * 200_000); time.sleep(20)', options={"max_output_bytes": 50_000})
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "output_limit")
    assert reply.output_bytes is not None
    assert reply.output_bytes > 50_000


@pytest.mark.parametrize(
    ("entrypoint", "status", "kind"),
    [
        ("surely-no-such-program", Status.UNSUPPORTED, "program_not_found"),
        ("./server", Status.SKILL_ERROR, "program_missing"),
        (f"{sys.executable} -c 'raise SystemExit(4)'", Status.SKILL_ERROR, "exit_code"),
    ],
)
def test_a_server_that_does_not_come_up_says_why(
    tmp_path: Path, entrypoint: str, status: Status, kind: str
) -> None:
    """A missing interpreter is not the skill's fault, a missing file and a crash are."""
    (reply,) = replies_of([mcp_call(tmp_path, entrypoint)])
    assert (reply.status, reply.failure_kind, reply.latency_ms) == (status, kind, None)


@pytest.mark.parametrize(
    ("error", "message", "is_retryable"),
    [
        ({"code": -32603, "message": "no"}, "work failed: JSON-RPC error -32603: no", True),
        ({"code": -32000, "message": "a sum"}, "work failed: JSON-RPC error -32000: a sum", True),
        (
            {"code": -32602, "message": "b is missing"},
            "work failed: JSON-RPC error -32602: b is missing",
            False,
        ),
    ],
)
def test_an_error_reply_is_a_failure(
    ask: Ask, error: dict[str, Any], message: str, *, is_retryable: bool
) -> None:
    """What the same request would meet again is not tried again."""
    reply = ask(f"say(id=id, error={error})")
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "rpc_error")
    assert (reply.message, reply.retryable) == (message, is_retryable)


def test_a_result_that_is_none_breaks_the_protocol(ask: Ask) -> None:
    """It is told at once, not waited for."""
    reply = ask('say(id=id, result={"content": "three"})')
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "unreadable_reply")
    assert (reply.message or "").startswith("work failed: the answer breaks the protocol: content: ")


def test_content_that_breaks_the_tool_s_own_schema_is_a_failure(ask: Ask) -> None:
    """A server that promises a schema is held to it."""
    tool = {
        "name": "work",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "required": ["sum"]},
    }
    reply = ask('say(id=id, result={"content": [], "structuredContent": {}})', before=f"TOOLS = [{tool}]")
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "broken_contract")
    assert "'sum' is a required property" in (reply.message or "")


def test_a_server_of_an_unknown_version_is_not_judged(ask: Ask) -> None:
    """What we cannot speak says nothing about the skill."""
    reply = ask("pass", before='VERSION = "1999-01-01"')
    assert (reply.status, reply.failure_kind) == (Status.UNSUPPORTED, "protocol_version")
    assert "1999-01-01" in (reply.message or "")


@pytest.mark.parametrize(
    ("tools", "tool", "called"),
    [(["a"], None, "a"), (["a", "b"], "b", "b"), (["a", "adder"], None, "adder")],
)
def test_the_tool_is_named_or_the_only_one_or_called_like_the_skill(
    ask: Ask, tools: list[str], tool: str | None, called: str
) -> None:
    """In that order."""
    reply = ask('say(id=id, result=text(params["name"]))', before=f"TOOLS = {tools}", tool=tool)
    assert reply.output == f'"{called}"'


@pytest.mark.parametrize(
    ("tools", "tool", "message"),
    [
        (["a", "b"], "c", "there is no tool c: the server offers a, b"),
        (["a", "b"], None, "name the tool with metadata.toolName in skill.json: the server offers a, b"),
        ([], None, "name the tool with metadata.toolName in skill.json: the server offers no tools"),
    ],
)
def test_a_tool_that_is_not_there_is_said_with_those_that_are(
    ask: Ask, tools: list[str], tool: str | None, message: str
) -> None:
    """The peer takes the reply to an unknown tool for output; here it is not judged."""
    reply = ask("say(id=id, result=text('no such tool'))", before=f"TOOLS = {tools}", tool=tool)
    assert (reply.status, reply.failure_kind, reply.message) == (Status.UNSUPPORTED, "unknown_tool", message)


TOLD = """
about = params["_meta"]
say(id=id, result=text(json.dumps([os.getpid(), n, os.getcwd(), given, about["skilleval/seed"],
    about["skilleval/repeat"], os.environ.get("SKILLEVAL_SEED")])))
"""


def _told(replies: list[Reply]) -> list[Any]:
    assert [reply.status for reply in replies] == [Status.COMPLETED] * len(replies), replies
    return [json.loads(reply.output or "") for reply in replies]


ENDLESS_LIST = """
answer = say
def say(**members):
    if "inputSchema" in str(members):
        members["result"]["nextCursor"] = "again"
    answer(**members)
"""


def test_a_list_of_tools_that_begins_again_names_each_once(ask: Ask) -> None:
    """The only tool is the only one, however often the server says it."""
    assert ask("say(id=id, result=text('1'))", before=ENDLESS_LIST).output == "1"


def test_each_trial_has_a_server_of_its_own(tmp_path: Path) -> None:
    """It runs in the skill's folder and is told seed and repeat by its environment and with the call."""
    write_scripted(tmp_path, TOLD)
    calls = [mcp_call(tmp_path, seed=7, repeat=number) for number in (0, 1)]
    first, second = _told(replies_of(calls))
    folder = str(tmp_path.resolve())
    assert first[1:] == [1, folder, {"a": 1}, 7, 0, "7"]
    assert second[1:] == [1, folder, {"a": 1}, 7, 1, "7"]
    assert first[0] != second[0]


def test_one_server_serves_many_trials(tmp_path: Path) -> None:
    """As many as it may; only its first trial starts it, and seed and repeat come with each call."""
    write_scripted(tmp_path, TOLD)
    calls = [mcp_call(tmp_path, seed=number) for number in range(3)]
    replies = replies_of(calls, worker_trials=2)
    told = _told(replies)
    assert [one[1] for one in told] == [1, 2, 1]
    assert [one[4:] for one in told] == [[0, 0, None], [1, 0, None], [2, 0, None]]
    assert told[0][0] == told[1][0] != told[2][0]
    assert [reply.spawn_ms is None for reply in replies] == [False, True, False]


def test_a_server_that_failed_is_replaced(tmp_path: Path) -> None:
    """The next trial gets a fresh one; an error of the tool alone is no reason for that."""
    body = 'given["a"] == 2 and os._exit(1)\nsay(id=id, result=text(str(n), isError=given["a"] == 3))'
    write_scripted(tmp_path, body)
    calls = [mcp_call(tmp_path, input={"a": number}) for number in (1, 2, 1, 3, 1)]
    replies = replies_of(calls, worker_trials=100)
    assert [(reply.output, reply.failure_kind) for reply in replies] == [
        ("1", None),
        (None, "exit_code"),
        ("1", None),
        (None, "tool_error"),
        ("3", None),
    ]


def test_a_server_that_leaves_in_peace_is_held_against_nobody(tmp_path: Path) -> None:
    """Whether it goes while it is asked or between two trials, the trial is asked of a fresh one."""
    write_scripted(tmp_path, "n == 2 and sys.exit(0)\nsay(id=id, result=text(str(n)))")
    calls = [mcp_call(tmp_path)] * 3
    assert [reply.output for reply in replies_of(calls, worker_trials=100)] == ["1", "1", "1"]
    write_scripted(tmp_path, "say(id=id, result=text(str(n)))\nsys.exit(0)")
    assert [reply.output for reply in replies_of(calls, worker_trials=100, pause_s=0.3)] == ["1", "1", "1"]


def test_what_a_server_says_on_stderr_belongs_to_its_trial(tmp_path: Path) -> None:
    """Each trial keeps what was written during it."""
    write_scripted(
        tmp_path, 'sys.stderr.write(f"call {n}\\n"); sys.stderr.flush(); say(id=id, result=text(""))'
    )
    replies = replies_of([mcp_call(tmp_path)] * 2, worker_trials=100, pause_s=0.2)
    assert [reply.stderr for reply in replies] == ["call 1\n", "call 2\n"]


def test_a_cancelled_call_leaves_no_server(tmp_path: Path, nap: Nap) -> None:
    """Ctrl-C during a call, and during the start, ends it with all it started."""
    write_scripted(tmp_path, f"os.system('sleep {nap.seconds}')")
    asleep = shlex.join([sys.executable, "-c", f"import time; time.sleep({nap.seconds})"])

    async def cancelled(entrypoint: str) -> None:
        adapter = McpAdapter(mcp_options(), NoSandbox(NoSandboxOptions(pass_env=())))
        task = asyncio.create_task(adapter.invoke(mcp_call(tmp_path, entrypoint)))
        await asyncio.to_thread(nap.wait_for, 1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await adapter.aclose()
        assert task.cancelled()

    for entrypoint in (PYTHON, asleep):
        asyncio.run(asyncio.wait_for(cancelled(entrypoint), timeout=60))
        assert nap.sleepers() == []


def _groups() -> set[Path]:
    """Give the control groups of this process."""
    return {path for one in usable_hierarchies() for path in one.folder.glob(f"skilleval-{os.getpid()}-*")}


def test_a_server_runs_in_the_sandbox(tmp_path: Path) -> None:
    """What the sandbox keeps from programs it keeps from servers: here, to write where it should not."""
    outside = tmp_path.parent / f"{tmp_path.name}-written"
    write_scripted(tmp_path, f"open({str(outside)!r}, 'w')\nsay(id=id, result=text('written'))")
    options = ProcessOptions(
        mechanism="fallback",
        network=False,
        allow_hosts=(),
        pass_env=(),
        read=(),
        memory_mb=512,
        cpus=None,
        cpu_seconds=None,
        processes=64,
        file_size_mb=1,
        open_files=64,
        tmp_mb=16,
    )
    before = _groups()
    (reply,) = replies_of([mcp_call(tmp_path)], sandbox=ProcessSandbox(options))
    assert _groups() <= before
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "exit_code")
    assert "PermissionError" in (reply.stderr or "")
    assert not outside.exists()


MODERN = """
for line in sys.stdin:
    request = json.loads(line)
    method, params, id = request["method"], request.get("params", {}), request.get("id")
    if method == "server/discover":
        say(id=id, result={"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})
    elif method == "tools/list":
        say(id=id, result={"tools": [{"name": "work", "inputSchema": {"type": "object"}}],
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})
    elif method == "tools/call":
        say(id=id, result=RESULT)
    elif id is not None:
        say(id=id, error={"code": -32601, "message": "no such method"})
"""


def test_a_server_without_the_old_handshake_is_understood(ask: Ask) -> None:
    """Where `initialize` is unknown the server is asked what it speaks."""
    result = '{"content": [], "structuredContent": [1, 2], "resultType": "complete"}'
    reply = ask("pass", before=MODERN.replace("RESULT", result))
    assert (reply.status, reply.output) == (Status.COMPLETED, "[1,2]")


def test_a_tool_that_asks_a_person_is_not_judged(ask: Ask) -> None:
    """Nobody is there to answer."""
    result = '{"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}}'
    reply = ask("pass", before=MODERN.replace("RESULT", result))
    assert (reply.status, reply.failure_kind) == (Status.UNSUPPORTED, "input_required")


def test_a_server_made_with_the_sdk_is_called(tmp_path: Path) -> None:
    """Structured content is the output; what it logs is kept apart."""
    (tmp_path / "server.py").write_text(WITH_SDK, encoding="utf-8")
    calls = [
        mcp_call(tmp_path, tool="add", input={"a": 1, "b": 2}),
        mcp_call(tmp_path, tool="echo", input={"words": '{"a": [1]}'}),
        mcp_call(tmp_path, tool="add", input={"a": "one", "b": 2}),
    ]
    added, echoed, wrong = replies_of(calls, worker_trials=100)
    assert (added.output, added.stderr) == ('{"result":3}', "adding\n")
    assert echoed.output == '{"a":[1]}'
    assert (wrong.status, wrong.failure_kind) == (Status.SKILL_ERROR, "tool_error")
    assert "valid integer" in (wrong.message or "")


def test_the_isolation_is_what_was_asked_for() -> None:
    """A promise of the adapter."""
    sandbox = NoSandbox(NoSandboxOptions(pass_env=()))
    assert isolation(McpAdapter(mcp_options(), sandbox)) == "trial"
    assert isolation(McpAdapter(mcp_options(), sandbox, worker_trials=3)) == "worker"
