"""Workspaces: folders of cases with one folder an arm, as agent-skills-eval, skill-creator and the guide lay them out.

All of these are read, below a workspace or an iteration of it, with or without a folder for each skill between:

    <case>/<arm>/grading.json                  one attempt
    <case>/<arm>/run-<k>/grading.json          repeats
    <case>/<arm>/runs/run-<k>/grading.json     the same
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from skilleval.domain.trials import Mode
from skilleval.results.importers.node import unusable

_ITERATION = re.compile(r"iteration-(\d+)")
_RUN = re.compile(r"run-(\d+)")
_RUNS = "runs"
_DEPTH = 4
_ARMS = {mode.value: mode for mode in (Mode.WITH_SKILL, Mode.WITHOUT_SKILL, Mode.OLD_SKILL)}
_NO_CASES = {"report", "outputs", "skill-snapshot", "inputs"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one attempt stands: the folder of its case, the arm, its own folder, and the 0-based repeat."""

    case: Path
    mode: Mode
    attempt: Path
    repeat: int


def iteration_of(path: Path) -> Path:
    """Give the newest iteration of a workspace; any other folder is taken as it is."""
    numbers = {
        int(match[1]): one
        for one in path.iterdir()
        if one.is_dir() and (match := _ITERATION.fullmatch(one.name))
    }
    return numbers[max(numbers)] if numbers else path


def places(root: Path, modes: Mapping[str, Mode]) -> list[Place]:
    """Find every attempt below a folder.

    Raises:
        ResultsError: there is none, or an arm has a name that nobody gave a meaning.
    """
    known, found = {**_ARMS, **modes}, list(arms(root))
    if not found:
        expected = "<case>/<with_skill, without_skill or old_skill>/[run-<k>/]grading.json"
        raise unusable(str(root), "", expected, "no attempt", "name a workspace, or an iteration of it")
    for arm in found:
        if arm.name not in known:
            hint = f"say what it is: --mode {arm.name}=with_skill, =without_skill or =old_skill"
            raise unusable(str(arm), "", f"an arm called {', '.join(known)}", arm.name, hint)
    return [
        Place(case=arm.parent, mode=known[arm.name], attempt=attempt, repeat=repeat)
        for arm in found
        for repeat, attempt in attempts(arm).items()
    ]


def arms(root: Path) -> Iterator[Path]:
    """Find the folders that hold attempts; links are not followed."""
    yield from _arms(root, _DEPTH)


def _arms(folder: Path, depth: int) -> Iterator[Path]:
    for one in sorted(folder.iterdir()):
        if not one.is_dir() or one.is_symlink() or one.name in _NO_CASES or one.name.startswith("."):
            continue
        if attempts(one):
            yield one
        elif depth:
            yield from _arms(one, depth - 1)


def attempts(arm: Path) -> dict[int, Path]:
    """Give the attempts of an arm by their 0-based repeats; the arm itself where it has no folders of runs."""
    runs = {
        int(match[1]): one
        for folder in (arm, arm / _RUNS)
        if folder.is_dir() and (folder == arm or not (arm / _RUNS).is_symlink())
        for one in folder.iterdir()
        if one.is_dir() and (match := _RUN.fullmatch(one.name))
    }
    if runs:
        first = min(1, *runs)  # they count from 1; where a run-0 is there, from 0
        return {number - first: runs[number] for number in sorted(runs)}
    return {0: arm} if _is_attempt(arm) else {}


def _is_attempt(folder: Path) -> bool:
    is_run = _RUN.fullmatch(folder.name) or folder.name == _RUNS
    is_there = any((folder / name).is_file() for name in ("grading.json", "timing.json"))
    return not is_run and (is_there or (folder / "outputs").is_dir())
