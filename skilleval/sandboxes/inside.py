"""Joins a network-less sandbox to ours by unix sockets: run inside it as `python inside.py JOINTS PROGRAM…`.

JOINTS is a JSON object. `exposes: [port, socket]`: who connects to the socket reaches the program's port; it is the
number of a bound socket that was inherited, or, where nothing can be, the path at which to make one.
`proxy: socket`: the program's HTTP requests reach the proxy behind the socket. A small process does that beside the
program; the sandbox ends it with everything else. Only the standard library is there.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from typing import NoReturn, Union

NOT_FOUND = 127
"""The exit code where the program cannot be started."""

_HOST = "127.0.0.1"
_CHUNK = 65536
_PR_SET_PDEATHSIG = 1
_PROXY_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
Address = Union[str, tuple[str, int]]  # noqa: UP007 - the Python of an image may be older than ours


def main() -> NoReturn:
    """Listen, leave a process that relays, and turn into the program."""
    joints, command = json.loads(sys.argv[1]), sys.argv[2:]
    doors: list[tuple[socket.socket, Address]] = []
    if "exposes" in joints:
        port, place = joints["exposes"]
        doors.append((_listening(place), (_HOST, port)))
    if "proxy" in joints:
        door = _listening((_HOST, 0))
        doors.append((door, joints["proxy"]))
        address = "http://{}:{}".format(*door.getsockname())
        os.environ.update(dict.fromkeys(_PROXY_NAMES, address))
    program = os.getpid()
    if os.fork() == 0:
        _relay(doors, program)
    for door, _ in doors:
        door.close()
    try:
        os.execvp(command[0], command)  # noqa: S606 - starting what the skill names is the purpose
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        sys.exit(NOT_FOUND)


def _listening(place: Address | int) -> socket.socket:
    if isinstance(place, int):
        door = socket.socket(fileno=place)
    else:
        door = socket.socket(socket.AF_UNIX if isinstance(place, str) else socket.AF_INET)
        door.bind(place)
    door.listen(128)
    return door


def _relay(doors: list[tuple[socket.socket, Address]], program: int) -> NoReturn:
    # Its own session and no pipes of the program: nobody waits for this process, and it ends with the program.
    os.setsid()
    _end_with_parent(program)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    threads = [threading.Thread(target=_serve, args=door) for door in doors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os._exit(0)


def _end_with_parent(parent: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before it could matter
        os._exit(0)


def _serve(door: socket.socket, target: Address) -> None:
    while True:
        guest, _ = door.accept()
        if guest.family == socket.AF_INET:
            guest.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            host = socket.socket(socket.AF_UNIX if isinstance(target, str) else socket.AF_INET)
            host.connect(target)
            if host.family == socket.AF_INET:  # a body must not wait until its head is acknowledged
                host.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:  # nobody listens there (yet): the guest sees a closed connection
            host.close()
            guest.close()
            continue
        for source, sink in ((guest, host), (host, guest)):
            threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    room = memoryview(bytearray(_CHUNK))
    with suppress(OSError):
        while n_bytes := source.recv_into(room):
            sink.sendall(room[:n_bytes])
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main()
