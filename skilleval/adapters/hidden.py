"""What a failing program may lack because its sandbox hides it, as far as its last words tell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from skilleval.domain.attempts import Reply, Status
from skilleval.sandboxes.base import NETWORK, Sandbox

_FILESYSTEM = "filesystem"
_TAIL = 4096  # characters of what was printed: the last words stand there
_NO_FILE = re.compile(r"no such file or directory|\bENOENT\b", re.IGNORECASE)
_PATH = re.compile(r"""["'](/[^"'\n]{1,1000})["']""")
_NO_HOST = re.compile(
    r"connection refused|name or service not known|name resolution|network is unreachable"
    r"|\b(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b",
    re.IGNORECASE,
)
_NO_VARIABLE = re.compile(r"KeyError: ['\"]([A-Z][A-Z0-9_]{2,})['\"]")


def with_hints(reply: Reply, folder: Path, sandbox: Sandbox) -> Reply:
    """Give a failure with what may help, where a file, a host or a variable is missing that is here outside."""
    if reply.status is not Status.SKILL_ERROR or reply.message is None:
        return reply
    said = f"{(reply.stderr or '')[-_TAIL:]}\n{reply.message[-_TAIL:]}"
    hints = list(dict.fromkeys(_hints(said, folder, sandbox)))
    if not hints:
        return reply
    return replace(reply, message=f"{reply.message} (the sandbox may hide it: {', '.join(hints)})")


def _hints(said: str, folder: Path, sandbox: Sandbox) -> Iterator[str]:
    last = [line for line in said.splitlines() if line.strip()]
    for line in last:
        if _FILESYSTEM in sandbox.guarantees and _NO_FILE.search(line):
            yield from (f"sandbox.read=[{path}]" for path in _PATH.findall(line) if _is_here(path, folder))
    if NETWORK in sandbox.guarantees and any(_NO_HOST.search(line) for line in last):
        yield "sandbox.allow_hosts=[HOST:PORT]"
    for name in _NO_VARIABLE.findall(said):
        if name in os.environ:
            yield f"sandbox.pass_env=[{name}]"


def _is_here(path: str, folder: Path) -> bool:
    """Say whether a file is there for us that is none of the skill's own."""
    is_own = path.startswith(f"{folder}/")
    return not is_own and os.path.exists(path)  # noqa: PTH110 - Path fails where a name is too long
