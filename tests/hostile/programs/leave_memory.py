"""Leaves memory and queues of System V behind, which others could open and the next trial would pay for."""

import ctypes
import os

from hostile.programs.stage import is_in_own_pid_namespace, managed, read_aims, say

aims = read_aims()
libc = ctypes.CDLL(None, use_errno=True)
CREATE = 0o1666
key = 0x5E000000 | os.getpid() & 0xFFFF
done = managed(
    {
        "memory": lambda: libc.shmget(key, 1 << 20, CREATE) >= 0,
        "semaphores": lambda: libc.semget(key, 1, CREATE) >= 0,
        "a queue": lambda: libc.msgget(key, CREATE) >= 0,
    }
)
# With a table of processes of its own go such things of its own, which end with it.
say(*([] if is_in_own_pid_namespace(aims) else done))
