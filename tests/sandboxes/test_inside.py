from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from free_ports import free_port

from skilleval.sandboxes import inside

_ANSWERING = """
import socket, sys
door = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("up", flush=True)
while True:
    guest, _ = door.accept()
    guest.sendall(guest.recv(100).upper())
    guest.close()
"""
_ASKING = """
import os, socket, urllib.parse
address = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
far = socket.create_connection((address.hostname, address.port))
far.sendall(b"ping")
print(far.recv(100).decode(), flush=True)
"""


@contextmanager
def _joined(
    joints: dict[str, Any], *program: str, inherits: tuple[int, ...] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program behind its joints; end both afterwards."""
    argv = [sys.executable, "-I", "-S", str(inside.__file__), json.dumps(joints), *program]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=inherits)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _connected(path: Path) -> socket.socket:
    deadline = time.monotonic() + 60
    while True:
        door = socket.socket(socket.AF_UNIX)
        try:
            door.connect(str(path))
        except OSError:
            door.close()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        else:
            door.settimeout(60)
            return door


def _is_running(pid: str) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_port_of_the_program_is_reached_through_the_socket(tmp_path: Path) -> None:
    """Each connection to the socket becomes one to the port, there and back."""
    port, path = free_port(), tmp_path / "socket"
    with _joined({"exposes": [port, str(path)]}, sys.executable, "-c", _ANSWERING, str(port)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        for word in (b"one", b"two"):
            with _connected(path) as door:
                door.sendall(word)
                assert door.recv(100) == word.upper()


def test_a_socket_that_is_handed_over_is_listened_at(tmp_path: Path) -> None:
    """Where the relay inherits a bound socket, nobody inside needs to see its path."""
    port, path = free_port(), tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path))
        joints = {"exposes": [port, door.fileno()]}
        program = (sys.executable, "-c", _ANSWERING, str(port))
        with _joined(joints, *program, inherits=(door.fileno(),)) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
            with _connected(path) as guest:
                guest.sendall(b"word")
                assert guest.recv(100) == b"WORD"


def test_before_the_program_listens_a_connection_is_closed(tmp_path: Path) -> None:
    """Who comes too early is not left waiting."""
    path = tmp_path / "socket"
    with _joined({"exposes": [free_port(), str(path)]}, "sleep", "20"), _connected(path) as door:
        assert door.recv(1) == b""


def test_the_proxy_of_the_program_is_the_socket(tmp_path: Path) -> None:
    """What the program sends to the address in its environment arrives at the socket."""
    path = tmp_path / "proxy"
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path))
        door.listen()
        door.settimeout(20)
        with _joined({"proxy": str(path)}, sys.executable, "-c", _ASKING) as process:
            guest, _ = door.accept()
            assert guest.recv(100) == b"ping"
            guest.sendall(b"pong")
            guest.close()
            assert process.stdout is not None
            assert process.stdout.readline() == b"pong\n"


def test_the_program_keeps_its_exit_code_and_its_pipes(tmp_path: Path) -> None:
    """The relay holds none of its outputs: they end with the program."""
    joints = {"exposes": [free_port(), str(tmp_path / "socket")]}
    with _joined(joints, "sh", "-c", "echo out; echo err >&2; exit 7") as process:
        out, err = process.communicate(timeout=120)
    assert (out, err, process.returncode) == (b"out\n", b"err\n", 7)


def _child(pid: int) -> str:
    """Give the only child of a process, as soon as there is one."""
    deadline = time.monotonic() + 60
    while not (children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (child,) = children
    return child


def test_the_relay_ends_with_the_program(tmp_path: Path) -> None:
    """Nothing is left behind, however the program ends."""
    with _joined({"exposes": [free_port(), str(tmp_path / "socket")]}, "sleep", "20") as process:
        _connected(tmp_path / "socket").close()
        relay = _child(process.pid)
        process.kill()
        process.wait()
    deadline = time.monotonic() + 60
    while _is_running(relay):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_program_that_is_not_there_is_said(tmp_path: Path) -> None:
    """As by a shell: one line and 127."""
    with _joined({"exposes": [free_port(), str(tmp_path / "socket")]}, "surely-no-such-program") as process:
        _, err = process.communicate(timeout=120)
    assert err == b"surely-no-such-program: No such file or directory\n"
    assert process.returncode == inside.NOT_FOUND
