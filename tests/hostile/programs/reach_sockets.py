"""Talks to unix sockets of the machine: one by its name alone, others by their files."""

import socket

from hostile.programs.stage import managed, own_name, read_aims, say

aims = read_aims()


def connect(address: str) -> None:
    """Say a word to whoever listens."""
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(2)
        one.connect(address)
        one.sendall(own_name().encode())


def send_from_a_pair(address: str) -> None:
    """Write a letter from one end of a pair of sockets, which may be there where no other sockets are."""
    for one in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        one.sendto(own_name().encode(), address)
        one.close()


say(
    *managed(
        {
            "a socket by its name": lambda: connect("\0" + aims["socket_name"]),
            "a socket by its file": lambda: connect(aims["socket_file"]),
            "a socket by a pair of others": lambda: send_from_a_pair(aims["letter_box"]),
        }
    )
)
