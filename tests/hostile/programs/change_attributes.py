"""Changes rights, times and attributes of files that it may at most read; what is seen afterwards counts."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hostile.programs.stage import managed, mark, read_aims, say

aims = read_aims()


def change_open(path: Path) -> None:
    """Change the rights of a file by a descriptor that may only read."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fchmod(descriptor, os.fstat(descriptor).st_mode ^ 0o111)


def changes(path: Path, attempt: Callable[[Path], object]) -> bool:
    """Make an attempt on a file, and look whether it had an effect."""
    before = path.stat()
    attempt(path)
    after = path.stat()
    return (after.st_mode, after.st_mtime_ns, after.st_ctime_ns) != (
        before.st_mode,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


attempts: dict[str, Callable[[Path], object]] = {
    "rights": lambda path: path.chmod(path.stat().st_mode ^ 0o111),
    "rights of an open file": change_open,
    "times": lambda path: os.utime(path, (1, 1)),
    "an attribute": lambda path: os.setxattr(path, f"user.{mark(aims)}", b"x"),
}
paths = (Path(aims["canary"]), Path(__file__), Path(aims["neighbour"]), Path(aims["tasks"]))
say(
    *managed(
        {
            f"{name} of {path}": partial(changes, path, attempt)
            for path in paths
            for name, attempt in attempts.items()
        }
    )
)
