"""Talks to unix sockets of the machine: one by its name alone, one by its file."""

import socket

from hostile.programs.stage import managed, own_name, read_aims, say

aims = read_aims()


def connect(address: str) -> None:
    """Say a word to whoever listens."""
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(2)
        one.connect(address)
        one.sendall(own_name().encode())


say(
    *managed(
        {
            "a socket by its name": lambda: connect("\0" + aims["socket_name"]),
            "a socket by its file": lambda: connect(aims["socket_file"]),
        }
    )
)
