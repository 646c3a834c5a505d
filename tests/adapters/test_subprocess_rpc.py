from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cases import case_input
from naps import Nap

from skilleval.domain.attempts import Reply, Status, Usage

Invoke = Callable[..., Reply]

OK = b'{"jsonrpc":"2.0","id":1,"result":"ok"}\n'

ECHO = """
import json, os, sys
request = json.loads(sys.stdin.read())
seen = {"params": request["params"], "method": request["method"], "folder": os.getcwd(), "arguments": sys.argv[1:]}
seen |= {name: os.environ[name] for name in ("SKILLEVAL_SEED", "SKILLEVAL_REPEAT")}
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": seen}))
"""


def _seen(reply: Reply) -> dict[str, object]:
    assert reply.status is Status.COMPLETED, reply
    seen: dict[str, object] = json.loads(reply.output or "null")
    return seen


def test_es01_a_skill_is_asked_in_its_own_folder(invoke: Invoke, tmp_path: Path) -> None:
    """The program named in the entrypoint is the skill's, and it gets input, seed and repeat."""
    (tmp_path / "skill.py").write_text(ECHO)
    reply = invoke("python3 skill.py", input={"b": "ü", "a": [1]}, seed=77, repeat=2)
    assert _seen(reply) == {
        "params": {"b": "ü", "a": [1]},
        "method": "invoke",
        "folder": str(tmp_path.resolve()),
        "arguments": [],
        "SKILLEVAL_SEED": "77",
        "SKILLEVAL_REPEAT": "2",
    }
    assert (reply.failure_kind, reply.message, reply.stdout, reply.stderr) == (None, None, None, "")
    assert (reply.exit_code, reply.retryable) == (0, False)
    assert reply.latency_ms is not None
    assert reply.spawn_ms is not None
    assert reply.latency_ms > 1


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ("'two words' x", ["two words", "x"]),
        (
            "\"$(touch broken)\" '; touch broken' '`touch broken`'",
            ["$(touch broken)", "; touch broken", "`touch broken`"],
        ),
        ("$HOME * > broken", ["$HOME", "*", ">", "broken"]),
        ("'' --a=\"b c\"", ["", "--a=b c"]),
    ],
)
def test_es02_the_entrypoint_is_an_argument_list(
    invoke: Invoke, tmp_path: Path, written: str, arguments: list[str]
) -> None:
    """Quotes group words, and nothing in them is ever run by a shell."""
    (tmp_path / "skill.py").write_text(ECHO)
    assert _seen(invoke(f"python3 skill.py {written}"))["arguments"] == arguments
    assert not (tmp_path / "broken").exists()


def test_es07_a_timeout_is_a_timeout(invoke: Invoke) -> None:
    """A program that is cut off has the status of its cause, with what it said and took until then."""
    reply = invoke('sh -c "echo started; echo why >&2; sleep 60"', timeout_s=1.0)
    assert (reply.status, reply.failure_kind, reply.message) == (
        Status.TIMEOUT,
        "timeout",
        "not done within 1 s",
    )
    assert (reply.stdout, reply.stderr, reply.output, reply.retryable) == ("started\n", "why\n", None, True)
    assert reply.latency_ms is not None
    assert 300 <= reply.latency_ms < 50_000


def test_es07_the_word_timeout_in_a_message_is_no_timeout(invoke_printing: Invoke) -> None:
    """The status comes from what happened, never from what a message says."""
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "timeout: timed out"}}
    reply = invoke_printing(json.dumps(error).encode())
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "rpc_error")


def test_es07_a_reply_in_time_counts_only_if_the_program_ends(invoke: Invoke, tmp_path: Path) -> None:
    """A program that answers and then hangs is a time-out that keeps its reply as evidence."""
    (tmp_path / "stdout").write_bytes(OK)
    reply = invoke('sh -c "cat stdout; sleep 60"', timeout_s=1.0)
    assert (reply.status, reply.output, reply.stdout) == (Status.TIMEOUT, None, OK.decode())


def test_c25_a_hanging_grandchild_is_a_timeout(invoke: Invoke, nap: Nap) -> None:
    """The call returns in time, keeps the partial output, and nobody sleeps on."""
    case = case_input("C25")
    started = time.monotonic()
    entrypoint = case["entrypoint"].replace("sleep 60", f"sleep {nap.seconds}")
    reply = invoke(entrypoint, timeout_s=case["timeoutMs"] / 1000)
    assert time.monotonic() - started < 15
    assert (reply.status, reply.stdout) == (Status.TIMEOUT, "started\n")
    assert nap.sleepers() == []


def test_c25_a_grandchild_does_not_spoil_a_reply(invoke: Invoke, tmp_path: Path, nap: Nap) -> None:
    """A program that answers and exits has answered, whoever still holds its pipes."""
    (tmp_path / "stdout").write_bytes(OK)
    reply = invoke(f'sh -c "setsid sleep {nap.seconds} & cat stdout"')
    assert (reply.status, reply.output) == (Status.COMPLETED, '"ok"')
    assert nap.sleepers() == []


def test_c27_bytes_that_are_not_utf_8_are_replaced_and_counted(invoke_printing: Invoke) -> None:
    """A reply with wrong bytes is an answer with a flag."""
    reply = invoke_printing(bytes.fromhex(case_input("C27")["stdout_bytes_hex"]))
    assert (reply.status, reply.output) == (Status.COMPLETED, '"\ufffd\ufffd"')
    assert reply.output_encoding_errors == 1


@pytest.mark.parametrize(
    ("printed", "output", "n_errors"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":"\\ud800 and \\udfff"}', '"\ufffd and \ufffd"', 2),
        (b'{"jsonrpc":"2.0","id":1,"result":"\\ud83d\\ude00"}', '"😀"', 0),
        (b'\xff\n{"jsonrpc":"2.0","id":1,"result":"\\ud800"}', '"\ufffd"', 2),
        (b'{"jsonrpc":"2.0","id":1,"result":{"\\ud800":1}}', '{"\ufffd":1}', 1),
        ('{"jsonrpc":"2.0","id":1,"result":"\ufffd"}'.encode(), '"\ufffd"', 0),
        (b'{"jsonrpc":"2.0","id":1,"result":123456789012345678901}', "123456789012345678901", 0),
        (b'{"jsonrpc":"2.0","id":1,"result":null}', "null", 0),
        (b'{"jsonrpc":"2.0","id":1,"result":{"b":1,"a":1.0}}', '{"b":1,"a":1.0}', 0),
    ],
)
def test_c27_output_can_always_be_stored(
    invoke_printing: Invoke, printed: bytes, output: str, n_errors: int
) -> None:
    """The output is compact JSON in valid UTF-8, and each place that had to be mended is counted."""
    reply = invoke_printing(printed)
    assert (reply.output, reply.output_encoding_errors) == (output, n_errors)
    assert output.encode()


@pytest.mark.parametrize("index", [0, 1, 2])
def test_c29_what_is_no_answer_is_an_error(invoke_printing: Invoke, index: int) -> None:
    """Nothing, a reply with exit code 1, and a traceback are errors and never output; what was said is kept."""
    run = case_input("C29")["runs"][index]
    reply = invoke_printing(run["stdout"].encode(), exit_code=run["exit"])
    kind = "exit_code" if run["exit"] else "no_reply"
    assert (reply.status, reply.failure_kind, reply.output) == (Status.SKILL_ERROR, kind, None)
    assert (reply.stdout, reply.exit_code, reply.retryable) == (run["stdout"], run["exit"], True)


@pytest.mark.parametrize(("script", "kind", "message"), [
    ("cat stdout; exit 2", "exit_code", "exit code 2"),
    ("cat stdout; echo line >&2; echo 'last words' >&2; exit 1", "exit_code", "exit code 1: last words"),
    ("cat stdout; kill -KILL $$", "signal", "ended by SIGKILL"),
    ("cat stdout; kill -40 $$", "signal", "ended by signal 40"),
    ("cat stdout >&2", "no_reply", "exit code 0, but no JSON-RPC reply on stdout"),
])  # fmt: skip
def test_c29_a_bad_end_spoils_a_good_reply(
    invoke: Invoke, tmp_path: Path, script: str, kind: str, message: str
) -> None:
    """Only a program that ends well has answered; the message says how it ended."""
    (tmp_path / "stdout").write_bytes(OK)
    reply = invoke(f"sh -c {shlex.quote(script)}")
    assert (reply.status, reply.failure_kind, reply.message) == (Status.SKILL_ERROR, kind, message)
    assert (reply.output, reply.stdout) == (None, "" if kind == "no_reply" else OK.decode())


def test_c30_endless_output_is_an_error_with_its_size(invoke: Invoke) -> None:
    """300 MB end as `output_limit` with a short excerpt."""
    case = case_input("C30")
    reply = invoke(case["entrypoint"], max_output_bytes=case["maxOutputBytes"])
    assert (reply.status, reply.failure_kind, reply.retryable) == (Status.SKILL_ERROR, "output_limit", True)
    assert reply.message == f"wrote at least {reply.output_bytes} bytes to stdout, the limit is 1000000"
    assert reply.output_bytes is not None
    assert reply.output_bytes > 1_000_000
    assert reply.stdout == "…" + "x" * 65_536


@pytest.mark.parametrize(("spare", "status"), [(0, Status.COMPLETED), (-1, Status.SKILL_ERROR)])
def test_c30_a_reply_of_exactly_the_cap_is_read(invoke_printing: Invoke, spare: int, status: Status) -> None:
    """The cap is allowed, one byte less is not enough."""
    reply = invoke_printing(OK, max_output_bytes=len(OK) + spare)
    assert (reply.status, reply.output_bytes) == (status, len(OK))


def test_c30_a_cap_that_cuts_a_character_is_no_encoding_error(invoke_printing: Invoke) -> None:
    """What we cut is not the skill's damage."""
    reply = invoke_printing("üü".encode(), max_output_bytes=3)
    assert (reply.failure_kind, reply.output_encoding_errors) == ("output_limit", 0)


def test_too_much_stderr_is_named_as_such(invoke: Invoke) -> None:
    """The message names the stream that was too long, and its end is kept."""
    reply = invoke("sh -c 'yes >&2'", max_output_bytes=10_000)
    assert reply.failure_kind == "output_limit"
    assert "bytes to stderr, the limit is 10000" in (reply.message or "")
    assert reply.stderr == "y\n" * 5000


def test_es21_a_skill_that_never_reads_its_input_can_answer(invoke: Invoke, tmp_path: Path) -> None:
    """Input larger than a pipe to a program that ignores it is survived."""
    (tmp_path / "stdout").write_bytes(OK)
    reply = invoke("cat stdout", input={"text": "x" * 1_000_000})
    assert (reply.status, reply.output) == (Status.COMPLETED, '"ok"')


def test_es22_a_skill_that_leaves_a_daemon_does_not_hang(invoke: Invoke, nap: Nap) -> None:
    """A grandchild that holds stdout costs no time and does not stay."""
    started = time.monotonic()
    reply = invoke(f"sh -c 'sleep {nap.seconds} & exit 3'")
    assert (reply.failure_kind, reply.exit_code) == ("exit_code", 3)
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    ("error", "message", "retryable"),
    [
        ({"code": -32000, "message": "boom"}, "JSON-RPC error -32000: boom", True),
        ({"code": -32601, "message": "no method"}, "JSON-RPC error -32601: no method", False),
        ({"code": -32602, "message": "bad"}, "JSON-RPC error -32602: bad", False),
        ({"code": -32603, "message": ["x", 1]}, 'JSON-RPC error -32603: ["x",1]', True),
        ({"message": "a\ud800b"}, "JSON-RPC error: a\ufffdb", True),
        ("plain", "JSON-RPC error: plain", True),
        ({"code": 1, "message": "x" * 9000}, "JSON-RPC error 1: " + "x" * 9000, True),
    ],
)
def test_an_error_reply_is_the_error_of_the_skill(
    invoke_printing: Invoke, error: object, message: str, retryable: bool
) -> None:
    """Code and message are kept; only a request that cannot succeed is not worth repeating."""
    reply = invoke_printing(json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}).encode())
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "rpc_error")
    assert (reply.message, reply.retryable) == (message, retryable)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ("[" * 100_000 + "]" * 100_000, "the reply is nested too deeply"),
        ("1e999", "the reply is not JSON: Out of range float values are not JSON compliant"),
    ],
)
def test_a_reply_that_cannot_be_kept_is_an_error(invoke_printing: Invoke, result: str, message: str) -> None:
    """Neither deep nesting nor an infinite number breaks the run or reaches the results."""
    reply = invoke_printing(f'{{"jsonrpc":"2.0","id":1,"result":{result}}}'.encode())
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "unreadable_reply")
    assert (reply.message or "").startswith(message)


def test_usage_is_read_beside_the_result(invoke_printing: Invoke) -> None:
    """Only the envelope reports usage; a result that looks like it is output."""
    printed = b'{"jsonrpc":"2.0","id":1,"result":{"usage":{"total_tokens":9}},"usage":{"promptTokens":4}}'
    assert invoke_printing(printed).usage == Usage(input_tokens=4)


@pytest.mark.parametrize(
    ("entrypoint", "verdict"),
    [
        ("surely-no-such-program x", (Status.UNSUPPORTED, "program_not_found", False)),
        ("./surely-no-such-file", (Status.SKILL_ERROR, "program_missing", False)),
        ("./stdout", (Status.SANDBOX_ERROR, "not_started", True)),
        ("sh -c 'unbalanced", (Status.SKILL_ERROR, "bad_entrypoint", False)),
        ("  ", (Status.SKILL_ERROR, "bad_entrypoint", False)),
    ],
)
def test_what_cannot_start_says_whose_fault_it_is(
    invoke: Invoke, tmp_path: Path, entrypoint: str, verdict: tuple[Status, str, bool]
) -> None:
    """A missing interpreter is the machine's fault, a missing own file the skill's, and nothing was measured."""
    (tmp_path / "stdout").write_bytes(OK)
    reply = invoke(entrypoint)
    assert (reply.status, reply.failure_kind, reply.retryable) == verdict
    assert (reply.latency_ms, reply.spawn_ms, reply.exit_code, reply.output) == (None, None, None, None)
    assert reply.message


def test_the_interpreter_of_the_evaluator_can_be_named(invoke: Invoke, tmp_path: Path) -> None:
    """An absolute path in the entrypoint is taken as it is."""
    (tmp_path / "skill.py").write_text(ECHO)
    assert _seen(invoke(f"{sys.executable} skill.py"))["method"] == "invoke"
