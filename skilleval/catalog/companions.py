"""The files that belong to a benchmark beside its own: other content there is another benchmark."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from skilleval.domain.hashes import canonical_json
from skilleval.domain.tasks import Task

_OPTION, _KEY = "custom_scorer_path", "customScorerPath"


def whole_digest(digest: str, tasks: Sequence[Task], folder: Path) -> str:
    """Give the digest of a benchmark with its companions; that of its file alone where it has none.

    Companions are the files of custom scorers, as they are found from the benchmark's `folder`, and the attachments
    whose content is hashed in the input of a task. What a scorer imports is not followed.
    """
    files = sorted({*_scorers(tasks, folder), *_attachments(tasks)})
    if not files:
        return digest
    return hashlib.sha256(canonical_json([digest, files]).encode()).hexdigest()


def _scorers(tasks: Sequence[Task], folder: Path) -> Iterator[tuple[str, str]]:
    """Give reference and digest of each scorer; a module that stands elsewhere is known to Python's import only."""
    named = {reference for task in tasks for reference in _references(task)}
    for reference in sorted(named):
        found = (_digest(path) for path in _candidates(reference, folder))
        digest = next((one for one in found if one is not None), None)
        if digest is not None:
            yield reference, digest


def _digest(path: Path) -> str | None:
    """Hash a file; null where there is none to read, which the scorer is going to say of each task."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):  # a name that no file can have is a ValueError
        return None


def _references(task: Task) -> Iterator[str]:
    options = task.evaluator.options if task.evaluator else {}
    for named in (options.get(_OPTION), task.expected.get(_KEY)):
        if isinstance(named, str):
            yield named


def _candidates(reference: str, folder: Path) -> tuple[Path, ...]:
    """Give where `file.py`, `file.py:function` or `module:function` may stand."""
    place, colon, _ = reference.rpartition(":")
    if not colon or place.endswith(".py"):
        return (folder / (place if colon else reference),)
    module = folder.joinpath(*place.split("."))
    return module.with_name(f"{module.name}.py"), module / "__init__.py"


def _attachments(tasks: Sequence[Task]) -> Iterator[tuple[str, str]]:
    for task in tasks:
        file = task.input.get("file")
        if isinstance(file, dict) and isinstance(file.get("sha256"), str):
            yield task.id, file["sha256"]
