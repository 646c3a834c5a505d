"""Opens sockets of families that a network namespace does not part, or that see all packets."""

import socket

from hostile.programs.stage import managed, read_aims, say

read_aims()
say(
    *managed(
        {
            "the hypervisor": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close(),
            "all packets": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close(),
        }
    )
)
