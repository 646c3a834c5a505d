from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from naps import Nap

from skilleval.adapters.base import Call
from skilleval.adapters.http import HttpAdapter
from skilleval.adapters.http_endpoint import Serve
from skilleval.adapters.http_reply import Failure
from skilleval.adapters.server_probe import Address
from skilleval.adapters.servers import ServerLimits, SkillServer
from skilleval.domain.attempts import Reply, Status
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions
from skilleval.sandboxes.process import ProcessOptions, ProcessSandbox

SERVER = """
import http.server, json, os, sys, time

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if os.path.exists("is-ready") or self.path != "/ready" else 503)
        self.end_headers()

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        if "die" in request:
            print("so long", file=sys.stderr, flush=True)
            os._exit(request["die"])
        if "spell" in request:
            print("x" * request["spell"], flush=True)
        body = json.dumps({"pid": os.getpid(), "port": os.environ["PORT"], "argument": sys.argv[1],
                           "folder": os.getcwd(), "key": os.environ.get("SKILL_KEY")}).encode()
        self.send_response(500 if "fail" in request else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

with open("starts", "a") as starts:
    starts.write("x")
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
COMMAND = (sys.executable, "server.py", "{port}")

Opened = Callable[..., AbstractAsyncContextManager[SkillServer]]


@pytest.fixture
def server_of(tmp_path: Path) -> Opened:
    """Give what opens a server in a folder of its own and ends it afterwards."""
    (tmp_path / "server.py").write_text(SERVER)

    @asynccontextmanager
    async def opened(
        *command: str, ready: str = "tcp", start_timeout_s: float = 8.0, max_restarts: int = 1
    ) -> AsyncIterator[SkillServer]:
        serve = Serve(command=command or COMMAND, ready=ready)
        limits = ServerLimits(start_timeout_s=start_timeout_s, max_restarts=max_restarts)
        server = SkillServer(serve, tmp_path, NoSandbox(NoSandboxOptions(pass_env=())), limits)
        try:
            yield server
        finally:
            await server.aclose()

    return opened


@pytest.fixture
def serving(
    tmp_path: Path, call: Callable[..., Call], http_adapter: Callable[..., HttpAdapter]
) -> Callable[..., list[Reply]]:
    """Give what asks a skill that brings its server one input after the other."""
    (tmp_path / "server.py").write_text(SERVER)

    def replies(*inputs: dict[str, Any], command: tuple[str, ...] = COMMAND, **options: Any) -> list[Reply]:
        async def asked() -> list[Reply]:
            adapter = http_adapter(**options)
            own = {"serve": {"command": list(command), "ready": "/"}}
            try:
                return [
                    await adapter.invoke(call("/invoke", adapter_options=own, input=value))
                    for value in inputs
                ]
            finally:
                await adapter.aclose()

        return asyncio.run(asked())

    return replies


def _failure(port: Address | Failure) -> Failure:
    assert isinstance(port, Failure)
    return port


def _pid(reply: Reply) -> int:
    seen = _seen(reply)
    assert isinstance(seen["pid"], int)
    return seen["pid"]


def _seen(reply: Reply) -> dict[str, Any]:
    assert reply.status is Status.COMPLETED, reply
    seen: dict[str, Any] = json.loads(reply.output or "null")
    return seen


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_server_is_started_once_for_all_calls(serving: Callable[..., list[Reply]], tmp_path: Path) -> None:
    """It runs in the skill's folder with a free port, answers every call, and is gone with the run."""
    first, second = (_seen(reply) for reply in serving({}, {}))
    assert first == second
    assert first["folder"] == str(tmp_path.resolve())
    assert first["port"] == first["argument"]
    assert int(first["port"]) > 1024
    assert not _is_alive(first["pid"])


def test_a_server_does_not_inherit_the_evaluators_environment(serving: Callable[..., list[Reply]]) -> None:
    """What the evaluator may send as a token is not lying about in the server."""
    (reply,) = serving({}, environ={"SKILL_KEY": "sesame-open"})
    assert _seen(reply)["key"] is None


def test_starting_is_no_part_of_the_latency(serving: Callable[..., list[Reply]]) -> None:
    """A server that needs long to come up is not called slow for it."""
    script = "import runpy, time; time.sleep(0.5); runpy.run_path('server.py', run_name='__main__')"
    began = time.perf_counter()
    (reply,) = serving({}, command=(sys.executable, "-c", script, "{port}"))
    took_ms = (time.perf_counter() - began) * 1000
    assert reply.latency_ms is not None
    assert reply.latency_ms <= took_ms - 500


def test_all_who_wait_for_a_start_share_it(server_of: Opened, tmp_path: Path) -> None:
    """Eight calls at once start one server."""

    async def ports() -> list[Address | Failure]:
        async with server_of() as server:
            return await asyncio.gather(*(server.address() for _ in range(8)))

    assert len(set(asyncio.run(ports()))) == 1
    assert (tmp_path / "starts").read_text() == "x"


def test_a_server_that_died_between_calls_is_started_again(server_of: Opened, tmp_path: Path) -> None:
    """The next call finds a new one, on a port that is free."""

    async def ports() -> tuple[bool, int]:
        async with server_of() as server:
            first = await server.address()
            pid = _listener(first)
            os.kill(pid, signal.SIGKILL)
            assert await server.death()
            second = await server.address()
            return isinstance(second, Address), _listener(second)

    is_up, pid = asyncio.run(ports())
    assert is_up
    assert not _is_alive(pid)
    assert (tmp_path / "starts").read_text() == "xx"


def _listener(port: Address | Failure) -> int:
    """Find the process whose command line ends with a port."""
    assert isinstance(port, Address)
    ending = f"server.py\0{port.port}\0".encode()
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if file.read_bytes().endswith(ending):
                return int(file.parent.name)
        except OSError:
            continue
    raise LookupError(port)


def _is_named(name: str, pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == name
    except OSError:
        return False


def test_a_server_that_dies_of_a_call_is_the_skills_fault(serving: Callable[..., list[Reply]]) -> None:
    """The call that killed it has failed with the server's last words; the next one is answered again."""
    died, answered = serving({"die": 3}, {})
    assert (died.status, died.failure_kind, died.retryable) == (Status.SKILL_ERROR, "server_died", True)
    assert died.message == "the server ended during the call (exit code 3): so long"
    assert died.stderr == "so long\n"
    assert _seen(answered)


def test_a_server_that_keeps_dying_is_given_up(serving: Callable[..., list[Reply]], tmp_path: Path) -> None:
    """After the allowed restarts no more are tried, and the skill has failed, not the machine."""
    *_, last = serving({"die": 3}, {"die": 3}, {"die": 3}, {})
    assert (last.status, last.failure_kind, last.retryable) == (Status.SKILL_ERROR, "server_died", False)
    assert last.message == "the server died 2 times and is not started again: so long"
    assert (tmp_path / "starts").read_text() == "xx"


def test_a_failed_call_shows_what_the_server_printed(serving: Callable[..., list[Reply]]) -> None:
    """The end of the log goes with a failure, and with no answer."""
    failed, answered = serving({"fail": 1, "spell": 5}, {})
    assert (failed.failure_kind, failed.stderr) == ("http_5xx", "xxxxx\n")
    assert answered.stderr is None


def test_what_a_server_lacks_gets_the_setting_that_may_help(serving: Callable[..., list[Reply]]) -> None:
    """A variable that is set here and that the server misses may have been kept from it, as from any program."""
    misses = (sys.executable, "-c", "import sys; sys.exit(\"KeyError: 'PATH'\")", "{port}")
    (reply,) = serving({}, command=misses)
    assert reply.failure_kind == "server_died"
    assert str(reply.message).endswith("(the sandbox may hide it: sandbox.pass_env=[PATH])")


def test_the_token_is_not_in_what_the_server_printed(
    tmp_path: Path, call: Callable[..., Call], http_adapter: Callable[..., HttpAdapter]
) -> None:
    """A server that prints its headers does not put the token into the rows."""
    echo = SERVER.replace(
        'if "die" in request', 'print(self.headers, flush=True)\n        if "die" in request'
    )
    (tmp_path / "server.py").write_text(echo)
    own = {
        "serve": {"command": list(COMMAND), "ready": "tcp"},
        "auth_type": "bearer",
        "auth_token_env_key": "SKILL_KEY",
    }

    async def asked() -> Reply:
        adapter = http_adapter({"SKILL_KEY": "sesame-open"})
        reply = await adapter.invoke(call("/", adapter_options=own, input={"fail": 1}))
        await adapter.aclose()
        return reply

    reply = asyncio.run(asked())
    assert "Bearer ***" in (reply.stderr or "")
    assert "sesame" not in repr(reply)


@pytest.mark.parametrize(
    ("script", "how", "last_words"),
    [
        ("raise SystemError('no model')", "exit code 1", "SystemError: no model"),
        ("open('(').read(", "exit code 1", "SyntaxError: '(' was never closed"),
        ("print('forked away')", "exit code 0", "forked away"),
        ("import os; print('bye', flush=True); os.kill(os.getpid(), 9)", "signal 9", "bye"),
    ],
)
def test_a_server_that_ends_before_it_is_ready_is_the_skills_fault(
    script: str, how: str, last_words: str, server_of: Opened
) -> None:
    """It is broken, wherever it runs; the message has its last words, and after the restarts it is given up."""

    async def failures() -> list[Failure]:
        async with server_of(sys.executable, "-c", script) as server:
            return [_failure(await server.address()) for _ in range(3)]

    first, second, third = asyncio.run(failures())
    said = f"the server ended before it was ready ({how}): {last_words}"
    assert (first.status, first.kind, first.message) == (Status.SKILL_ERROR, "server_died", said)
    assert (first.retryable, second.retryable, third.retryable) == (True, False, False)
    assert (third.status, third.kind) == (Status.SKILL_ERROR, "server_died")
    assert third.message == f"the server did not come up in 2 starts: {last_words}"


def test_a_server_whose_program_is_missing_for_its_interpreter_is_the_skills_fault(server_of: Opened) -> None:
    """`python3 server.py` without a server.py has an interpreter and no server."""

    async def failure() -> Failure:
        async with server_of(sys.executable, "absent.py", "{port}") as server:
            return _failure(await server.address())

    failed = asyncio.run(failure())
    assert (failed.status, failed.kind) == (Status.SKILL_ERROR, "server_died")
    assert "absent.py" in failed.message


def test_a_server_that_is_never_up_stays_infrastructure_when_it_is_given_up(server_of: Opened) -> None:
    """Who runs and does not answer may only be slow here: that is no verdict on the skill."""

    async def failures() -> list[Failure]:
        idle = (sys.executable, "-c", "import time; time.sleep(60)")
        async with server_of(*idle, start_timeout_s=0.3, max_restarts=0) as server:
            return [_failure(await server.address()) for _ in range(2)]

    for failed in asyncio.run(failures()):
        assert (failed.status, failed.kind, failed.retryable) == (
            Status.SANDBOX_ERROR,
            "server_not_ready",
            False,
        )


def test_a_server_that_is_never_ready_is_given_up_in_time(server_of: Opened, nap: Nap) -> None:
    """The limit holds, the message says what was answered, and the whole tree is ended."""
    script = (
        f"import subprocess, runpy; subprocess.Popen(['sleep', '{nap.seconds}']); runpy.run_path('server.py')"
    )

    async def failure() -> Failure:
        async with server_of(
            sys.executable, "-c", script, "{port}", ready="/ready", start_timeout_s=5.0
        ) as server:
            return _failure(await server.address())

    started = time.monotonic()
    failed = asyncio.run(failure())
    assert time.monotonic() - started < 30
    assert failed.status is Status.SANDBOX_ERROR
    assert failed.message.startswith("the server was not ready within 5 s: GET /ready answered HTTP/1.0 503")
    assert nap.sleepers() == []


def test_a_server_that_is_not_ready_yet_is_waited_for(server_of: Opened, tmp_path: Path) -> None:
    """A path that answers with an error is asked again until it answers well."""

    async def port() -> Address | Failure:
        async with server_of(ready="/ready") as server:
            asked = asyncio.create_task(server.address())
            await asyncio.sleep(0.5)
            assert not asked.done()
            (tmp_path / "is-ready").touch()
            return await asked

    assert isinstance(asyncio.run(port()), Address)


@pytest.mark.parametrize(
    ("program", "status", "cause"),
    [
        ("surely-no-such-program", Status.UNSUPPORTED, "program_not_found: is not a program on the PATH"),
        ("./missing", Status.SKILL_ERROR, "program_missing: is not a file in"),
    ],
)
def test_a_server_without_program(program: str, status: Status, cause: str, server_of: Opened) -> None:
    """An interpreter that this machine lacks is unsupported, a file that the skill lacks is its error."""

    async def failure() -> Failure:
        async with server_of(program) as server:
            return _failure(await server.address())

    failed = asyncio.run(failure())
    kind, _, reason = cause.partition(": ")
    assert (failed.status, failed.kind, failed.retryable) == (status, kind, False)
    assert failed.message.startswith(f"the server could not be started: {program} {reason}")


def test_es23_a_stopped_run_ends_servers_and_what_they_started(server_of: Opened, nap: Nap) -> None:
    """Cancelling leaves nothing alive, during a start as well, and nobody has to close anything."""
    escape = f"subprocess.Popen(['sleep', '{nap.seconds}'], start_new_session=True)"
    script = f"import subprocess, time; {escape}; time.sleep({nap.seconds})"

    async def stopped() -> None:
        server: SkillServer
        async with server_of(sys.executable, "-c", script, start_timeout_s=30.0) as server:
            waiting = asyncio.create_task(server.address())
            await asyncio.to_thread(nap.wait_for, 2)
            waiting.cancel()
            await asyncio.wait({waiting})
            assert nap.sleepers()  # the start goes on for others who may wait for it

    asyncio.run(stopped())
    assert nap.sleepers() == []


def test_es23_servers_end_with_the_event_loop(tmp_path: Path, nap: Nap) -> None:
    """Even where nobody closes the adapter, the end of the loop ends the server."""

    async def abandoned() -> None:
        serve = Serve(command=("sleep", nap.seconds), ready="tcp")
        limits = ServerLimits(start_timeout_s=30.0, max_restarts=0)
        server = SkillServer(serve, tmp_path, NoSandbox(NoSandboxOptions(pass_env=())), limits)
        waiting = asyncio.ensure_future(server.address())
        await asyncio.to_thread(nap.wait_for, 1)
        kept.append((server, waiting))

    kept: list[tuple[SkillServer, Awaitable[object]]] = []
    asyncio.run(abandoned())
    assert nap.sleepers() == []
    asyncio.run(kept[0][0].aclose())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_a_server_ends_with_a_skilleval_that_is_killed(tmp_path: Path, nap: Nap) -> None:
    """Who is killed outright cannot clean up, and still leaves no server behind."""
    program = """
import asyncio, os, pathlib
from skilleval.adapters.http_endpoint import Serve
from skilleval.adapters.servers import ServerLimits, SkillServer
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

async def main():
    limits = ServerLimits(start_timeout_s=30.0, max_restarts=0)
    serve = Serve(command=("sleep", os.environ["NAP"]), ready="tcp")
    await SkillServer(serve, pathlib.Path(), NoSandbox(NoSandboxOptions(pass_env=())), limits).address()

asyncio.run(main())
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path), "NAP": nap.seconds}
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, env=environment) as killed:
        deadline = time.monotonic() + 60
        while not any(_is_named("sleep", pid) for pid in nap.sleepers()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert nap.sleepers()
        killed.kill()
    deadline = time.monotonic() + 20  # its nap lasts longer
    while nap.sleepers() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert nap.sleepers() == []


def test_only_the_end_of_what_a_server_prints_is_kept(server_of: Opened, tmp_path: Path) -> None:
    """A talkative server neither waits for a reader nor fills memory or disk."""
    talk = "import sys; print('y' * 1_500_000, 'last', flush=True); exec(open('server.py').read())"
    (tmp_path / "talk.py").write_text(talk)

    async def tail() -> str:
        async with server_of(sys.executable, "talk.py", "{port}") as server:
            assert isinstance(await server.address(), Address)
            return server.log()

    kept = asyncio.run(tail())
    assert (len(kept), kept[-10:]) == (65_536, "yyyy last\n")


@pytest.mark.parametrize("n_before", [0, 490, 497, 65_520, 65_525, 65_530, 65_535])
def test_no_part_of_the_token_is_kept_of_a_log_that_is_cut(
    n_before: int, tmp_path: Path, call: Callable[..., Call], http_adapter: Callable[..., HttpAdapter]
) -> None:
    """Wherever message and log end, the token was taken out before."""
    talk = f"""
import sys
class Echo(Handler):
    def do_POST(self):
        print(self.headers["Authorization"].removeprefix("Bearer "), "z" * {n_before}, sep="", flush=True)
        print("z" * {n_before}, self.headers["Authorization"].removeprefix("Bearer "), sep="", flush=True)
        os._exit(3)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Echo).serve_forever()
"""
    (tmp_path / "server.py").write_text(SERVER.rpartition("http.server.Threading")[0] + talk)
    own = {
        "serve": {"command": list(COMMAND), "ready": "tcp"},
        "auth_type": "bearer",
        "auth_token_env_key": "SKILL_KEY",
    }

    async def asked() -> Reply:
        adapter = http_adapter({"SKILL_KEY": "0123456789abcdef"})
        reply = await adapter.invoke(call("/", adapter_options=own))
        await adapter.aclose()
        return reply

    reply = asyncio.run(asked())
    assert reply.failure_kind == "server_died"
    assert not set("56789abf") & set(f"{(reply.stderr or '')}{(reply.message or '').rpartition(': ')[2]}")


@pytest.mark.hostile
def test_a_server_with_its_own_network_is_up_wherever_temporary_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A TMPDIR too deep for the address of a socket is no fault of the skill, and no hindrance; nothing is left."""
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    (tmp_path / "server.py").write_text(SERVER.replace('"starts"', '"/tmp/starts"'))
    options = ProcessOptions(
        mechanism="bubblewrap",
        network=False,
        allow_hosts=(),
        pass_env=(),
        read=(),
        memory_mb=256,
        cpus=None,
        cpu_seconds=None,
        processes=64,
        file_size_mb=1,
        open_files=64,
        tmp_mb=16,
    )

    async def met() -> Address | Failure:
        sandbox = ProcessSandbox(options)
        limits = ServerLimits(start_timeout_s=60.0, max_restarts=0)
        server = SkillServer(Serve(command=COMMAND, ready="/"), tmp_path, sandbox, limits)
        address = await server.address()
        await server.aclose()
        await sandbox.aclose()
        return address

    address = asyncio.run(met())
    assert isinstance(address, Address), address
    assert address.socket is not None
    assert str(address.socket).startswith("/proc/self/fd/")
    assert not os.path.lexists(address.socket)
