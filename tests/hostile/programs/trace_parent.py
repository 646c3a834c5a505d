"""Reads the memory of its parent, as a debugger does."""

import ctypes
import os
from pathlib import Path

from hostile.programs.stage import is_in_own_pid_namespace, managed, read_aims, say

aims = read_aims()
libc = ctypes.CDLL(None, use_errno=True)
parent = os.getppid()
ATTACH, DETACH, SEIZE = 16, 17, 0x4206


def trace(how: int) -> bool:
    """Take hold of the parent, and let it go."""
    is_traced = bool(libc.ptrace(how, parent, None, None) == 0)
    if is_traced:
        libc.ptrace(DETACH, parent, None, None)
    return is_traced


done = managed({"ptrace": lambda: trace(ATTACH), "ptrace without stopping": lambda: trace(SEIZE)})
if not is_in_own_pid_namespace(aims):  # else its parent is a part of the sandbox, which holds no secret
    files = Path(f"/proc/{parent}/fd")
    done += managed(
        {
            "its memory": lambda: Path(f"/proc/{parent}/mem").open("rb").close(),
            "its open files": lambda: list(files.iterdir()),
        }
    )
say(*done)
