from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from free_ports import free_port

from skilleval.errors import AdapterError
from skilleval.sandboxes.base import Command, Completed, Exposure
from skilleval.sandboxes.process import ProcessOptions, ProcessSandbox
from skilleval.sandboxes.session import PipeSession

VALUES: dict[str, Any] = {
    "mechanism": "bubblewrap", "network": False, "allow_hosts": [], "pass_env": [], "read": [], "memory_mb": 256,
    "cpus": None, "cpu_seconds": 20, "processes": 64, "file_size_mb": 4, "open_files": 128, "tmp_mb": 8,
}  # fmt: skip
_SERVER = """
import socket, sys
door = socket.create_server(("127.0.0.1", int(sys.argv[1])))
sys.stdout.write("up\\n")
while True:
    guest, _ = door.accept()
    guest.sendall(guest.recv(100).upper())
    guest.close()
"""
_CLIENT = """
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1], timeout=120).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""


def _sandbox(**changes: Any) -> ProcessSandbox:
    return ProcessSandbox(ProcessOptions.parse(VALUES | changes, where="test", prefix="sandbox"))


def _command(folder: Path, *argv: str, **changes: Any) -> Command:
    values: dict[str, Any] = {"env": {}, "stdin": b"", "timeout_s": 30.0, "max_output_bytes": 100_000}
    return Command(argv=argv, folder=folder, **(values | changes))


async def _answer(ask: Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]) -> bytes:
    reader, writer = await ask()
    writer.write(b"word")
    answer = await reader.read()
    writer.close()
    return answer


async def _web(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
    await writer.drain()
    writer.close()


@pytest.mark.hostile
def test_a_server_without_network_is_reached_at_its_socket_only(tmp_path: Path) -> None:
    """Its port is a port of its own network, so that nobody else on this machine meets it."""
    port, doors = free_port(), tmp_path / "doors"
    doors.mkdir()
    exposure = Exposure(port=port, socket=doors / "1")

    async def asked() -> tuple[bytes, bool]:
        sandbox = _sandbox()
        argv = (sys.executable, "-c", _SERVER, str(port))
        session = await sandbox.open(_command(tmp_path, *argv, exposes=exposure))
        assert isinstance(session, PipeSession), session
        try:
            assert await session.receive() == b"up\n"
            answer = await _answer(lambda: asyncio.open_unix_connection(doors / "1"))
            with socket.socket() as stranger:
                is_open = stranger.connect_ex(("127.0.0.1", port)) == 0
            return answer, is_open
        finally:
            await session.aclose()
            await sandbox.aclose()

    assert asyncio.run(asked()) == (b"WORD", False)


_LOOKING = """
import json, os, sys
seen = [line.split()[4] for line in open("/proc/self/mountinfo")]
held = [os.readlink(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd") if int(one) > 2
        and os.path.lexists(f"/proc/self/fd/{one}")]
print(json.dumps([[one for one in seen if "doors" in one], os.path.lexists(sys.argv[1]),
                  [one for one in held if one.startswith("socket")]]))
"""


@pytest.mark.hostile
def test_a_server_never_sees_the_folder_of_its_socket(tmp_path: Path) -> None:
    """It can neither fill that folder nor lay a link to a socket of this machine there, nor does it hold the socket."""
    skill, doors = tmp_path / "skill", tmp_path / "doors"
    skill.mkdir()
    doors.mkdir()

    async def seen() -> bytes:
        sandbox = _sandbox()
        argv = (sys.executable, "-c", _LOOKING, str(doors))
        exposure = Exposure(port=free_port(), socket=doors / "1")
        done = await sandbox.run(_command(skill, *argv, exposes=exposure))
        await sandbox.aclose()
        return done.stdout + done.stderr

    assert json.loads(asyncio.run(seen())) == [[], False, []]


def test_a_socket_that_cannot_be_made_is_the_sandboxs_failure(tmp_path: Path) -> None:
    """The program is not started, and not blamed."""
    exposure = Exposure(port=free_port(), socket=tmp_path / "absent" / "1")

    async def opened() -> object:
        sandbox = _sandbox(mechanism="fallback")
        done = await sandbox.open(_command(tmp_path, "sh", "-c", ":", exposes=exposure))
        await sandbox.aclose()
        return done

    done = asyncio.run(opened())
    assert isinstance(done, Completed)
    assert done.not_started == f"sandbox_failed: {tmp_path}/absent/1: No such file or directory"


def test_without_bubblewrap_a_server_listens_on_this_machine(tmp_path: Path) -> None:
    """There is no network but ours; the sandbox says so, and only servers get it."""
    port = free_port()

    async def asked() -> bytes:
        sandbox = _sandbox(mechanism="fallback")
        assert (sandbox.shares_network, sandbox.serves_unguarded) == (True, True)
        argv = (sys.executable, "-c", _SERVER, str(port))
        session = await sandbox.open(_command(tmp_path, *argv, exposes=Exposure(port=port, socket=None)))
        assert isinstance(session, PipeSession), session
        try:
            assert await session.receive() == b"up\n", session.stderr
            return await _answer(lambda: asyncio.open_connection("127.0.0.1", port))
        finally:
            await session.aclose()
            await sandbox.aclose()

    assert asyncio.run(asked()) == b"WORD"


@pytest.mark.hostile
def test_a_program_reaches_the_hosts_that_are_named_and_no_others(tmp_path: Path) -> None:
    """Its way out is the proxy, which says no by name and keeps count of both."""

    async def asked() -> tuple[bytes, bytes, list[tuple[bool, int]]]:
        server = await asyncio.start_server(_web, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        sandbox = _sandbox(allow_hosts=[f"127.0.0.1:{port}"])
        try:
            urls = (f"http://127.0.0.1:{port}/", f"http://127.0.0.1:{port + 1}/")
            named, other = [
                await sandbox.run(_command(tmp_path, sys.executable, "-c", _CLIENT, url)) for url in urls
            ]
            counted = [(one.allowed, one.n_connections) for one in sandbox.passages]
            return named.stdout + named.stderr, other.stdout + other.stderr, counted
        finally:
            await sandbox.aclose()
            server.close()

    named, other, counted = asyncio.run(asked())
    assert named == b"hello\n"
    assert other.startswith(b"403 skilleval: 127.0.0.1:")
    assert sorted(counted) == [(False, 1), (True, 1)]


def test_named_hosts_need_bubblewrap() -> None:
    """Without it no program has a loopback of its own on which the proxy could wait."""
    with pytest.raises(AdapterError, match=r"sandbox\.allow_hosts needs bubblewrap"):
        _sandbox(mechanism="fallback", allow_hosts=["a.example"])
