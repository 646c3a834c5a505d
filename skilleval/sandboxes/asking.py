"""Puts a question to a program of this machine: which interpreter is behind a shim."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skilleval.sandboxes.base import Command
from skilleval.sandboxes.launch import Launch
from skilleval.sandboxes.programs import Ask
from skilleval.sandboxes.running import execute

_TIMEOUT_S = 10.0
_MAX_BYTES = 65536


def asking(folder: Path, environment: Mapping[str, str], *, distrusted: Path | None = None) -> Ask:
    """Give what runs an argument list in a folder and gives its answer, "" where it failed.

    A program that lies in the `distrusted` folder is not run at all.
    """

    async def ask(argv: tuple[str, ...]) -> str:
        if distrusted is not None and _lies_in(distrusted, argv[0]):
            return ""
        question = Command(
            argv=argv, folder=folder, env={}, stdin=b"", timeout_s=_TIMEOUT_S, max_output_bytes=_MAX_BYTES
        )
        answer = await execute(question, Launch(argv=argv, folder=folder, env=environment))
        return answer.stdout.decode("utf-8", "replace") if answer.exit_code == 0 else ""

    return ask


def _lies_in(folder: Path, file: str) -> bool:
    return Path(file).resolve().is_relative_to(folder.resolve())
