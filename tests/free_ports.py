"""Ports for programs that tests start, below those that a system hands out.

Whoever asks the system for any port, here or in a test beside this one, is given none of these: a port stays free
from being looked for until its program listens there.
"""

from __future__ import annotations

import itertools
import os
import socket

_FIRST, _N_PORTS = 10_000, 20_000  # Linux hands out 32768 and more
_steps = itertools.count(os.getpid() * 97)


def free_port() -> int:
    """Give a port of this machine where nobody listens, another one each time; processes begin at different ones."""
    while True:
        port = _FIRST + next(_steps) % _N_PORTS
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
