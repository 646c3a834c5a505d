"""Looks at benchmarks without running them: lists them, shows one, checks files, also where tasks are yet to come."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skilleval.catalog.benchmarks import (
    BENCHMARK,
    BenchmarkReading,
    about,
    benchmark_id,
    candidates,
    locate_benchmark,
    read_benchmark,
    read_tasks,
    with_remarks,
)
from skilleval.catalog.documents import Document, read_document
from skilleval.catalog.loaders.loading import bring, names_loader
from skilleval.catalog.paths import is_file, is_folder
from skilleval.errors import CatalogError, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A benchmark as far as it can be read without data.

    `bring` says how a user gets the data file of which the tasks are made; null where they are there.
    """

    reading: BenchmarkReading
    bring: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One benchmark of a list: its file as it was found, and the root it was found below."""

    shown: Shown
    file: Path
    root: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkList:
    """The benchmarks that can be used, in the order in which they are looked for, and what is wrong with others."""

    benchmarks: tuple[Listed, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What checking a file came to: something to show, or problems."""

    shown: Shown | None
    problems: tuple[Problem, ...]


def list_benchmarks(roots: Sequence[Path]) -> BenchmarkList:
    """List what is below the roots; files of another kind are passed over."""
    found: list[Listed] = []
    problems: list[Problem] = []
    for root in roots:
        for file in candidates([root]):
            try:
                listed = _listed(file, root, found)
            except CatalogError as error:
                problems += error.problems
                continue
            found += [listed] if listed is not None else []
    return BenchmarkList(benchmarks=tuple(found), problems=tuple(problems))


def show_benchmark(name: str, roots: Sequence[Path], *, data: Path | None = None) -> Shown:
    """Find a benchmark as `find_benchmark` does, but take one that waits for its data as it is.

    Raises:
        CatalogError: as for `find_benchmark`.
    """
    located = locate_benchmark(name, roots)
    return _with_notices(_shown(read_document(located.file), located.file, data), *located.notices)


def check_named(name: str, roots: Sequence[Path], *, data: Path | None = None) -> Checked:
    """Check what a path leads to or, where nothing is there, the benchmark with this id."""
    path = Path(name)
    if is_folder(path) or is_file(path) or path.suffix:
        return check_file(path, data=data)
    try:
        located = locate_benchmark(name, roots)
    except CatalogError as error:
        return Checked(shown=None, problems=error.problems)
    checked = check_file(located.file, data=data)
    shown = None if checked.shown is None else _with_notices(checked.shown, *located.notices)
    return dataclasses.replace(checked, shown=shown)


def check_file(path: Path, *, data: Path | None = None) -> Checked:
    """Read a benchmark or a task file, and give what is wrong with it instead of raising."""
    file = path / BENCHMARK if is_folder(path) else path
    try:
        document = read_document(file)
        if isinstance(document.value, list):
            return Checked(shown=Shown(reading=read_tasks(file), bring=None), problems=())
        # A data file is meant for those files that need one; the others are checked as they are.
        mine = data if names_loader(document.value) else None
        return Checked(shown=_shown(document, file, mine), problems=())
    except CatalogError as error:
        return Checked(shown=None, problems=error.problems)


def _shown(document: Document, file: Path, data: Path | None) -> Shown:
    if data is None and names_loader(document.value) and "data" not in document.value:
        return Shown(reading=about(document), bring=bring(document))
    return Shown(reading=read_benchmark(file, data=data), bring=None)


def _with_notices(shown: Shown, *notices: str) -> Shown:
    return dataclasses.replace(shown, reading=with_remarks(shown.reading, *notices))


def _listed(file: Path, root: Path, before: Sequence[Listed]) -> Listed | None:
    document = read_document(file)
    name = benchmark_id(document)
    if name is None or any(one.file.resolve() == file.resolve() for one in before):
        return None
    first = next((one.file for one in before if one.shown.reading.benchmark.id == name), None)
    hidden = () if first is None else (f"{file}: is not used, {first} has the same id",)
    return Listed(shown=_with_notices(_shown(document, file, None), *hidden), file=file, root=root)
