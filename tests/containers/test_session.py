from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from containers.boxes import command, containers, used
from naps import Nap

from skilleval.sandboxes.base import Completed, Exposure
from skilleval.sandboxes.docker import DockerSandbox
from skilleval.sandboxes.docker.session import ContainerSession

pytestmark = pytest.mark.docker
_ECHO = """
import sys
for line in sys.stdin:
    print(line.strip().upper(), flush=True)
    print("e", file=sys.stderr, flush=True)
"""
_SERVER = """
import socket, sys
door = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("up", flush=True)
while True:
    guest, _ = door.accept()
    guest.sendall(guest.recv(100).upper())
    guest.close()
"""
_CLIENT = """
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""


async def _opened(made: DockerSandbox, folder: Path, *argv: str, **changes: object) -> ContainerSession:
    session = await made.open(command(folder, *argv, **changes))
    assert isinstance(session, ContainerSession), session
    return session


async def _line(session: ContainerSession) -> bytes:
    """Receive until a line is whole: pieces come as they are written."""
    heard = b""
    while not heard.endswith(b"\n") and (piece := await session.receive()):
        heard += piece
    return heard


def test_a_program_is_talked_with(folder: Path) -> None:
    """What was given as stdin comes first; each request gets its answer; the end is ours, and told."""

    async def work(made: DockerSandbox) -> tuple[list[bytes], Completed]:
        session = await _opened(made, folder, "python3", "-c", _ECHO, stdin=b"first\n", env={"A": "b"})
        heard = [await _line(session)]
        await session.send(b"second\n")
        heard.append(await _line(session))
        return heard, await session.aclose()

    heard, done = used(work)
    assert heard == [b"FIRST\n", b"SECOND\n"]
    assert (done.exit_code, done.timed_out, done.stderr, done.stdout_bytes) == (-9, False, b"e\ne\n", 13)


def test_the_end_of_a_program_is_noticed(folder: Path) -> None:
    """Its last words are received, then nothing; sending to it is no fault; its exit code is told."""

    async def work(made: DockerSandbox) -> tuple[bytes, bytes, Completed]:
        session = await _opened(made, folder, "sh", "-c", "echo bye; exit 7")
        await session.ended()
        first, last = await session.receive(), await session.receive()
        await session.send(b"x" * 1_000_000)
        return first, last, await session.aclose()

    first, last, done = used(work)
    assert (first, last, done.exit_code) == (b"bye\n", b"", 7)


def test_closing_its_stdout_is_no_end(folder: Path) -> None:
    """The engine does not tell of it: nothing is received, and the program lives until it is ended."""

    async def work(made: DockerSandbox) -> tuple[int, Completed]:
        session = await _opened(made, folder, "sh", "-c", "exec >&- 2>&-; sleep 20")
        asked = {asyncio.create_task(session.ended()), asyncio.create_task(session.receive())}
        _, waiting = await asyncio.wait(asked, timeout=0.5)
        done = await session.aclose()
        await asyncio.gather(*asked)
        return len(waiting), done

    n_waiting, done = used(work)
    assert (n_waiting, done.exit_code) == (2, -9)


def test_a_session_has_a_limit_of_time(folder: Path) -> None:
    """At its end the program is ended, and that is told."""

    async def work(made: DockerSandbox) -> Completed:
        session = await _opened(made, folder, "sleep", "20", timeout_s=0.3)
        assert await session.receive() == b""
        return await session.aclose()

    assert used(work).timed_out


def test_what_nobody_receives_is_not_held_without_end(folder: Path) -> None:
    """A program that prints and prints has to wait, and can still be ended at once."""

    async def work(made: DockerSandbox) -> Completed:
        session = await _opened(made, folder, "yes")
        await asyncio.sleep(1.5)
        return await session.aclose()

    done = used(work)
    assert done.exit_code == -9
    assert done.stdout_bytes < 20_000_000  # unhindered it would be some 100 MB


def test_a_server_is_reached_by_a_socket(folder: Path, tmp_path: Path) -> None:
    """Its port is one of its own network; a unix socket in a folder of ours leads to it."""
    doors = tmp_path / "doors"
    doors.mkdir(mode=0o700)

    async def work(made: DockerSandbox) -> bytes:
        exposure = Exposure(port=4000, socket=doors / "door")
        argv = ("python3", "-c", _SERVER, "4000")
        session = await _opened(made, folder, *argv, writes=(doors,), exposes=exposure)
        assert await _line(session) == b"up\n"
        reader, writer = await asyncio.open_unix_connection(str(doors / "door"))
        writer.write(b"word")
        answer = await reader.read()
        writer.close()
        await session.aclose()
        return answer

    assert used(work) == b"WORD"


def test_named_hosts_are_reached_and_no_others(folder: Path) -> None:
    """The way out is a proxy on a unix socket; what was asked of it is known."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        writer.close()

    async def work(made: DockerSandbox) -> tuple[bytes, bytes, list[tuple[int, bool]]]:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        allowed = DockerSandbox(
            made.Options.parse(
                {**made.options.model_dump(), "allow_hosts": [f"127.0.0.1:{port}"]}, where="test"
            )
        )
        words = ("python3", "-c", _CLIENT)
        inside = await allowed.run(command(folder, *words, f"http://127.0.0.1:{port}/"))
        outside = await allowed.run(command(folder, *words, "http://127.0.0.1:9/"))
        passages = [(one.target.port, one.allowed) for one in allowed.passages]
        await allowed.aclose()
        server.close()
        await server.wait_closed()
        return inside.stdout, outside.stdout, sorted(passages, key=lambda one: one[1])

    inside, outside, passages = used(work)
    assert inside == b"hello\n"
    assert outside.startswith(b"403 ")
    assert [allowed for _, allowed in passages] == [False, True]


def test_what_is_opened_ends_with_its_task(folder: Path, nap: Nap) -> None:
    """A session that is closed when its task is cancelled leaves neither program nor container."""

    async def life(made: DockerSandbox) -> None:
        session = await _opened(made, folder, "sleep", nap.seconds)
        try:
            await session.ended()
        finally:
            await session.aclose()

    async def work(made: DockerSandbox) -> None:
        task = asyncio.create_task(life(made))
        await asyncio.to_thread(nap.wait_for, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert nap.sleepers() == []
        assert containers() == ()

    used(work)


def test_a_program_that_the_image_lacks_cannot_be_talked_with(folder: Path) -> None:
    """It is the image that is wanting, not the skill: said as for programs that are only run, and nothing is left."""

    async def work(made: DockerSandbox) -> list[object]:
        words = ("surely-no-such-program", "/surely/not/there", "./own", "python3")
        (folder / "own").touch(mode=0o755)
        opened = [await made.open(command(folder, word)) for word in words]
        for one in opened:
            if isinstance(one, ContainerSession):
                await one.aclose()
        return [one.not_started if isinstance(one, Completed) else "started" for one in opened]

    lacking = "program_not_found: {} is not a program on the PATH of the image skilleval-base:py311"
    assert used(work) == [
        lacking.format("surely-no-such-program"),
        lacking.format("/surely/not/there"),
        "started",
        "started",
    ]
