"""What every hostile program shares: its aims, its own bounds, and a way to say what it managed.

A program is also bounded by itself, so that a sandbox that fails does not take the machine with it.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

MAX_SECONDS = 60
MAX_FORKS = 3000
MAX_BYTES_OF_MEMORY = 3 << 30
MAX_BYTES_OF_FILES = 500 << 20


def read_aims() -> dict[str, Any]:
    """Read the request; from now on this process ends after a minute, come what may."""
    signal.alarm(MAX_SECONDS)
    aims: dict[str, Any] = json.loads(sys.stdin.readline())["params"]
    return aims


def say(*done: str) -> None:
    """Answer the request: what is named was managed and should not have been; nothing named, nothing managed."""
    result = {"breached": bool(done), "detail": ", ".join(done)}
    _answer(result)


def say_unable(reason: str) -> None:
    """Answer that the attack was not made, which proves nothing."""
    result = {"breached": None, "detail": reason}
    _answer(result)


def _answer(result: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}) + "\n")
    sys.stdout.flush()


def managed(attempts: Mapping[str, Callable[[], object]]) -> list[str]:
    """Make each attempt; give the names of those that nothing stopped."""
    return [name for name, attempt in attempts.items() if succeeds(attempt)]


def succeeds(attempt: Callable[[], object]) -> bool:
    """Make an attempt; one that gives false did not work either."""
    try:
        return attempt() is not False
    except (OSError, ValueError):
        return False


def own_name() -> str:
    """Give the name of this program: its folder is called after it."""
    return Path(sys.argv[0]).absolute().parent.name


def mark(aims: dict[str, Any]) -> str:
    """Give the name of the files this program leaves, by which they are found and told apart."""
    return f"{aims['mark']}-{own_name()}"


def sees_loopback_only() -> bool:
    """Say whether this program stands in a network that leads nowhere: only then may it try to reach out."""
    try:
        lines = Path("/proc/self/net/dev").read_text().splitlines()[2:]
    except OSError:
        return False
    return {line.partition(":")[0].strip() for line in lines} <= {"lo"}


def is_in_own_pid_namespace(aims: dict[str, Any]) -> bool:
    """Say whether the processes that can be seen here are not those of the machine."""
    return succeeds(lambda: str(Path("/proc/self/ns/pid").readlink()) != aims["pid_namespace"])
