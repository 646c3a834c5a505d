"""Mounts a file system over its own folder, takes another root, and lifts what is mounted."""

import ctypes
import os
from pathlib import Path

from hostile.programs.stage import managed, read_aims, say

read_aims()
libc = ctypes.CDLL(None, use_errno=True)
own = bytes(Path.cwd())
say(
    *managed(
        {
            "mount": lambda: libc.mount(b"none", own, b"tmpfs", 0, None) == 0,
            "change of a mount": lambda: libc.mount(None, own, None, 32 | 4096, None) == 0,
            "umount": lambda: libc.umount2(own, 2) == 0,
            "chroot": lambda: os.chroot(own),
        }
    )
)
