"""Makes itself lord of namespaces of its own, where it would have rights again."""

import ctypes
import os
from functools import partial

from hostile.programs.stage import managed, read_aims, say

read_aims()
libc = ctypes.CDLL(None, use_errno=True)
KINDS = {"user": 0x10000000, "mount": 0x00020000, "network": 0x40000000, "process": 0x20000000}


def unshare(flags: int) -> bool:
    """Try in a child, so that one success does not spoil the next attempt."""
    child = os.fork()
    if child == 0:
        os._exit(0 if libc.unshare(flags) == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


direct = {f"a {name} namespace": partial(unshare, flag) for name, flag in KINDS.items()}
by_way = {
    f"{name} by way of a user's": partial(unshare, flag | KINDS["user"]) for name, flag in KINDS.items()
}
say(*managed(direct | by_way))
