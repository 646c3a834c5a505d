"""Sends to a service of the machine that keeps no connections; nobody here learns whether it came through."""

import socket

from hostile.programs.stage import managed, own_name, read_aims, say, say_unable, sees_loopback_only

aims = read_aims()


def send() -> None:
    """Say a word to the service."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(own_name().encode(), ("127.0.0.1", aims["udp_port"]))


if sees_loopback_only():
    managed({"udp": send})
    say()
else:
    say_unable("there are more interfaces than lo")
