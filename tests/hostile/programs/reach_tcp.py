"""Talks to a service of the machine."""

import socket

from hostile.programs.stage import managed, own_name, read_aims, say, say_unable, sees_loopback_only

aims = read_aims()


def connect() -> None:
    """Say a word to the service."""
    with socket.create_connection(("127.0.0.1", aims["tcp_port"]), timeout=2) as one:
        one.sendall(own_name().encode())


if sees_loopback_only():
    say(*managed({"tcp": connect}))
else:
    say_unable("there are more interfaces than lo")
