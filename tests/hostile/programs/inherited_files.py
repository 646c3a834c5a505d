"""Looks for open files that it was not meant to have."""

import os

from hostile.programs.stage import read_aims, say

read_aims()


def is_open(descriptor: int) -> bool:
    """Ask the system about a descriptor."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


say(*(f"descriptor {number}" for number in range(3, 1000) if is_open(number)))
