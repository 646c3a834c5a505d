"""Finds the files in a skill's folder that ask about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from skilleval.catalog.bundle import EVALS, EVALS_FILES, TRIGGER_FILES
from skilleval.catalog.contents import read_content
from skilleval.catalog.paths import is_file
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Task


def evals_files(folder: Path) -> tuple[Path, ...]:
    """Give the files of evals that are there, the one to use first."""
    return _there(folder, EVALS_FILES)


def trigger_files(folder: Path) -> tuple[Path, ...]:
    """Give the files with queries for triggering that are there."""
    return _there(folder, TRIGGER_FILES)


def _there(folder: Path, names: tuple[str, ...]) -> tuple[Path, ...]:
    places = (place / name for place in (folder / EVALS, folder) for name in names)
    return tuple(place for place in places if is_file(place))


def is_outside(file: Path, folder: Path) -> bool:
    """Say whether a file is a link that leaves the folder of the skill."""
    return not file.resolve().is_relative_to(folder)


def script_digests(skill: Skill, tasks: Sequence[Task]) -> Iterator[tuple[str, str]]:
    """Give place and digest of each file that a command of the tasks names: another script judges otherwise."""
    words = {word for task in tasks for word in task.expected.get("script", ()) if word}
    for word in sorted(words):
        for path in (skill.folder / word, skill.folder / EVALS / word):
            real = path.resolve()
            if is_file(real) and real.is_relative_to(skill.folder):
                name = real.relative_to(skill.folder).as_posix()
                yield f"{skill.id}: {name}", read_content(real).digest
