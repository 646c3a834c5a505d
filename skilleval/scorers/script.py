"""`script`: a command of the task's author judges the files of an attempt, in the sandbox."""

from __future__ import annotations

import hashlib
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from skilleval.domain.hashes import content_hash
from skilleval.sandboxes.base import Command, Completed, Sandbox
from skilleval.scorers.aside import aside
from skilleval.scorers.attempt_files import UnusableFileError, attempt_files, write_files
from skilleval.scorers.base import Finding, ScorerInfo, ScoringRecord, ungraded
from skilleval.scorers.options import with_task_options
from skilleval.scorers.script_verdict import CHECK_ID, MAX_OUTPUT_BYTES, broke, script_findings
from skilleval.scorers.values import shown
from skilleval.strict import StrictModel

EVALS_FOLDER: Final = "SKILLEVAL_EVALS"
"""The environment variable that tells the command where the task's author has put files."""
_EVALS = "evals"
_PYTHONS = frozenset({"python", "python3"})


class ScriptOptions(StrictModel):
    """`conf/scorer/script.yaml`. Words of the command that name files beside the task are found there."""

    command: Annotated[tuple[str, ...], Field(strict=False)]
    timeout_ms: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    pass_at: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class UnusableCommandError(ValueError):
    """A command that cannot be run; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Called:
    """The command of a task: its words, the command as it is written, and the author's files that are named in it."""

    words: tuple[str, ...]
    check: str
    files: tuple[Path, ...]
    folder: Path
    timeout_ms: float


class ScriptScorer:
    """Runs a command in a folder with the files of an attempt and takes its exit code, or its JSON on stdout.

    Exit code 0 passes and 1 fails; anything else, and a command that takes too long, leaves the task ungraded: a
    broken script says nothing about a skill.
    """

    Options = ScriptOptions
    needs_sandbox = True

    def __init__(self, options: ScriptOptions, sandbox: Sandbox) -> None:
        self._options = options
        self._sandbox = sandbox
        self.info = ScorerInfo(kind="script", version="2", options=options.model_dump())

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give one finding, or one a check that the script tells of."""
        options = with_task_options(record, self.info.kind, self._options)
        try:
            called = _called(record, options)
        except UnusableCommandError as error:
            return (ungraded(str(error), check_id=CHECK_ID),)
        if called is None:
            return (ungraded("nothing to check: the task names no `script`"),)
        try:
            files = await aside(partial(attempt_files, record))
        except (UnusableFileError, RecursionError) as error:
            why = str(error) if isinstance(error, UnusableFileError) else "the output is nested too deeply"
            return (broke(called.check, why),)
        completed = await self._run(called, files)
        return script_findings(
            completed, called.check, timeout_ms=options.timeout_ms, pass_at=options.pass_at
        )

    def fingerprint(self, record: ScoringRecord) -> str | None:
        """Give the digest of the author's files in the command; null where the command names none of them."""
        try:
            called = _called(record, with_task_options(record, self.info.kind, self._options))
            if called is None:
                return ""
            digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in called.files]
        except (UnusableCommandError, OSError):
            return None
        return content_hash(*digests) if digests else None

    async def _run(self, called: _Called, files: Mapping[str, bytes]) -> Completed:
        folder = _new_folder()
        try:
            await aside(partial(write_files, files, folder))
            return await self._sandbox.run(
                Command(
                    argv=called.words,
                    folder=folder,
                    env={EVALS_FOLDER: str(called.folder)},
                    stdin=b"",
                    timeout_s=called.timeout_ms / 1000,
                    max_output_bytes=MAX_OUTPUT_BYTES,
                    reads=(called.folder, *called.files),
                    writes=(folder,),
                )
            )
        finally:
            with suppress(
                OSError
            ):  # what the script made unremovable stays in the folder for temporary files
                shutil.rmtree(folder)


def _new_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="skilleval-script-")).resolve()


def _called(record: ScoringRecord, options: ScriptOptions) -> _Called | None:
    """Give the command of a task, or that of the options; null where there is none."""
    given = record.expected.get("script")
    if isinstance(given, Mapping):
        given = given.get("command")
    words = _words(given) if given is not None else options.command
    if not words:
        return None
    folder = record.folder.resolve()
    # Evals stand in a folder of their skill, and authors name files from either of the two.
    roots = (folder.parent, folder) if folder.name == _EVALS else (folder,)
    found = [next(filter(None, (_below(word, root) for root in roots)), None) for word in words]
    argv = [word if file is None else str(file) for word, file in zip(words, found, strict=True)]
    # Where it is only said to be Python, ours is meant: the one that is there for certain.
    argv = [sys.executable, *argv] if argv[0].endswith(".py") else argv
    argv[0] = sys.executable if argv[0] in _PYTHONS else argv[0]
    files = tuple(file for file in found if file is not None)
    return _Called(
        words=tuple(argv),
        check=shlex.join(words),
        files=files,
        folder=folder,
        timeout_ms=options.timeout_ms,
    )


def _words(given: Any) -> tuple[str, ...]:
    """Split a command into words as a shell would; nothing else of a shell has a meaning."""
    try:
        words = shlex.split(given) if isinstance(given, str) else given
    except ValueError as error:
        raise UnusableCommandError(f"the script {shown(given, 80)} cannot be split: {error}") from None
    if not isinstance(words, list | tuple) or not all(
        isinstance(word, str) and "\0" not in word for word in words
    ):
        raise UnusableCommandError(f"the script is {shown(given, 80)}, expected a command or a list of words")
    if not words or not words[0]:
        raise UnusableCommandError("the script is empty: there is no command to run")
    return tuple(words)


def _below(word: str, folder: Path) -> Path | None:
    """Give the file in a folder that a word names; null where it names none."""
    if not word or word.startswith("-"):
        return None
    try:
        file = (folder / word).resolve()
        return file if file.is_relative_to(folder) and file.is_file() else None
    except (OSError, ValueError):  # too long for a path
        return None
