"""Finds the program behind the first word of a command, once.

Version managers put small scripts named `python3` or `node` on the PATH that look up and start the real
interpreter. Each start through one costs tens of milliseconds which would be charged to the skill.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

_INTERPRETER = re.compile(r"python(3(\.\d+)?)?|node")
_PYTHON_QUESTION = ("-c", "import sys; print(sys.executable)")
_NODE_QUESTION = ("-p", "process.execPath")

Ask = Callable[[tuple[str, ...]], Awaitable[str]]
"""Runs an argument list in the skill's folder and gives what it wrote; "" where it failed."""


class Programs:
    """Remembers for each word, folder and PATH which file to start."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Path, str], str] = {}
        self._asking: dict[tuple[str, Path, str], asyncio.Lock] = {}

    async def find(self, word: str, folder: Path, path: str, ask: Ask) -> str | None:
        """Give the file to start for a word; null where there is none.

        A word with a slash names a file relative to the folder, any other is looked up in `path`.
        """
        key = (word, folder, path)
        if key not in self._known:
            # Trials that start together wait for one answer instead of asking one each.
            async with self._asking.setdefault(key, asyncio.Lock()):
                if key not in self._known and (found := _located(word, folder, path)) is not None:
                    self._known[key] = await _unwrapped(found, ask)
            self._asking.pop(key, None)
        return self._known.get(key)


def _located(word: str, folder: Path, path: str) -> str | None:
    # Absolute, because the program starts in the skill's folder and not in ours.
    if "/" in word:
        file = folder / word
        return str(file.absolute()) if file.is_file() else None
    found = shutil.which(word, path=path)
    return None if found is None else str(Path(found).absolute())


async def _unwrapped(file: str, ask: Ask) -> str:
    name = Path(file).name
    if _INTERPRETER.fullmatch(name) is None or not _is_script(file):
        return file
    answer = (await ask((file, *(_NODE_QUESTION if name == "node" else _PYTHON_QUESTION)))).strip()
    is_program = Path(answer).is_absolute() and os.access(answer, os.X_OK) and not _is_script(answer)
    return answer if is_program else file


def _is_script(file: str) -> bool:
    try:
        with Path(file).open("rb") as start:
            return start.read(2) == b"#!"
    except OSError:  # may be run but not read
        return False
