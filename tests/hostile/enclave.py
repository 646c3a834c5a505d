"""Runs a command in a network of its own that leads nowhere, beside services that write down who spoke to them.

Run as `python enclave.py ORDERS command…`; ORDERS is a JSON object: `log`, where to write, and where to listen.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

_NEW_NETWORK = 0x40000000
_SET_FLAGS = 0x8914
_UP = 1


def main() -> None:
    """Enter the network, listen, run, write down."""
    orders: dict[str, Any] = json.loads(sys.argv[1])
    _enter_own_network()
    heard: list[str] = []
    for family, kind, address in (
        (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", orders["tcp_port"])),
        (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", orders["udp_port"])),
        (socket.AF_UNIX, socket.SOCK_STREAM, "\0" + orders["socket_name"]),
        (socket.AF_UNIX, socket.SOCK_STREAM, orders["socket_file"]),
        (socket.AF_UNIX, socket.SOCK_DGRAM, orders["letter_box"]),
    ):
        service = socket.socket(family, kind)
        service.bind(address)
        threading.Thread(target=_listen, args=(service, heard), daemon=True).start()
    code = subprocess.run(sys.argv[2:], check=False).returncode
    Path(orders["log"]).write_text(json.dumps(heard), encoding="utf-8")
    sys.exit(code)


def _enter_own_network() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NETWORK) != 0:
        sys.exit(f"no network of its own: {os.strerror(ctypes.get_errno())}; hostile programs are not run")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))


def _listen(service: socket.socket, heard: list[str]) -> None:
    if service.type == socket.SOCK_DGRAM:
        while True:
            heard.append(service.recv(1000).decode())
    service.listen()
    while True:
        guest, _ = service.accept()
        guest.settimeout(2)
        try:
            heard.append(guest.recv(1000).decode())
        except OSError:
            heard.append("somebody")
        guest.close()


if __name__ == "__main__":
    main()
