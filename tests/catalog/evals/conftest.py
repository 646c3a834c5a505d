"""What the tests of evals write to disk, and how they read it back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.catalog.benchmarks import BenchmarkReading
from skilleval.catalog.evals import read_evals
from skilleval.catalog.skill_md import read_instruction_skill
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Task
from skilleval.errors import CatalogError, Problem

Reader = Callable[..., BenchmarkReading]
Finder = Callable[..., tuple[Problem, ...]]


@pytest.fixture
def write_evals(tmp_path: Path) -> Callable[..., Skill]:
    """Write a skill with evals and give it as it is read; what is no text becomes JSON."""

    def write(
        evals: object = None, *, folder: str = "tide", name: str = "evals/evals.json", **files: str | bytes
    ) -> Skill:
        root = tmp_path / folder
        text = f"---\nname: {root.name}\ndescription: Reads tide tables.\n---\nLook it up.\n"
        for place, content in {"SKILL.md": text, **files}.items():
            _put(root / place, content)
        if evals is not None:
            _put(root / name, evals if isinstance(evals, str | bytes) else json.dumps(evals))
        return read_instruction_skill(root).skill

    return write


def _put(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture
def read(write_evals: Callable[..., Skill]) -> Reader:
    """Write a skill with evals and read them."""

    def reader(evals: object, *, strict: bool = False, **changes: str | bytes) -> BenchmarkReading:
        return read_evals([write_evals(evals, **changes)], strict=strict)

    return reader


@pytest.fixture
def read_case(read: Reader) -> Callable[..., Task]:
    """Write and read one case, and give its task; what is not said has a value."""

    def reader(case: object, *, defaults: object = None, **files: str | bytes) -> Task:
        evals = {"evals": [_whole(case)]} | ({"defaults": defaults} if defaults is not None else {})
        (task,) = read(evals, **files).benchmark.tasks
        return task

    return reader


@pytest.fixture
def problems_of(read: Reader) -> Finder:
    """Write and read a case that cannot be used, and give why."""

    def finder(case: object, *, strict: bool = False, **files: str | bytes) -> tuple[Problem, ...]:
        with pytest.raises(CatalogError) as caught:
            read({"evals": [_whole(case)]}, strict=strict, **files)
        return caught.value.problems

    return finder


def _whole(case: object) -> object:
    return {"id": 1, "prompt": "When is high tide?", **case} if isinstance(case, dict) else case
