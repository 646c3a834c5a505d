"""Reads the input files of a case once, so that every arm of a comparison gets the same bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilleval.catalog.bundle import EVALS
from skilleval.catalog.contents import read_content
from skilleval.catalog.evals.findings import Findings, Said
from skilleval.catalog.paths import is_file, is_folder
from skilleval.domain.files import FileKind, TaskFile

_PREFIX = f"{EVALS}/"
_SHOWN = {FileKind.CUT: "is cut", FileKind.BINARY: "is binary: only its name is shown"}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a file may stand; `path` is not resolved, so that it names the file as its author does."""

    path: Path
    target: Path

    def is_within(self, folder: Path) -> bool:
        return self.target.is_relative_to(folder)


def input_files(place: str, names: list[Any], folder: Path, findings: Findings) -> tuple[TaskFile, ...]:
    """Read the files that a case names; `folder` is that of the skill, and is looked in before its `evals/`.

    A file has the name that the subject sees: its path in the skill without a leading `evals/`.
    """
    read: dict[Path, TaskFile] = {}
    for index, name in enumerate(names):
        spot = f"{place}.files[{index}]"
        path = _path(spot, name, folder, findings)
        if path is None:
            continue
        if path.resolve() in {one.resolve() for one in read}:
            findings.notices.add(spot, f"{name} is the same file as another one here")
            continue
        file = _read(spot, path, _whole_name(path, folder), findings)
        if file is not None:
            read[path] = file
    return _shortly_named(tuple(read.values()))


def _path(spot: str, name: Any, folder: Path, findings: Findings) -> Path | None:
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        findings.problem(spot, expected="the path of a file", found=name)
        return None
    places = tuple(_places(name, folder))
    inside = [place for place in places if place.is_within(folder)]
    found = next((place.path for place in inside if is_file(place.path)), None)
    if found is not None:
        return found
    outside = [place for place in places if place not in inside and (not inside or is_file(place.path))]
    if outside:
        expected = "a file in the folder of the skill"
        findings.problem(spot, expected=expected, found=Said(f"{name}, which leads to {outside[0].target}"))
    elif any(is_folder(place.path) for place in inside):
        hint = "name the files in it one by one"
        findings.problem(spot, expected="a file", found=Said(f"the folder {name}"), hint=hint)
    else:
        where = " or ".join(str(place.path) for place in inside)
        findings.problem(spot, expected="a file that is there", found=Said(f"nothing at {where}"))
    return None


def _places(name: str, folder: Path) -> Iterator[_Place]:
    for base in (folder, folder / EVALS):
        path = Path(os.path.normpath(base / name))
        try:
            yield _Place(path, path.resolve())
        except (OSError, RuntimeError):  # a link to itself
            yield _Place(path, path)


def _whole_name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


def _shortly_named(files: tuple[TaskFile, ...]) -> tuple[TaskFile, ...]:
    """Leave a leading `evals/` out of the names, except where that would put two files into one place."""
    shorts = [file.name.removeprefix(_PREFIX) for file in files]
    return tuple(
        file if sum(_overlap(short, other) for other in shorts) > 1 else replace(file, name=short)
        for file, short in zip(files, shorts, strict=True)
    )


def _overlap(one: str, other: str) -> bool:
    """Say whether two names are one, or one is a folder of the other: below one folder both cannot be files."""
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def _read(spot: str, path: Path, name: str, findings: Findings) -> TaskFile | None:
    try:
        content = read_content(path)
    except OSError as error:
        found = Said(f"{path}: {error.strerror}")
        findings.problem(spot, expected="a readable file", found=found)
        return None
    if content.kind in _SHOWN:
        short = name.removeprefix(_PREFIX)
        findings.notices.add(spot, f"{short} ({content.n_bytes} bytes) {_SHOWN[content.kind]}")
    return TaskFile(
        name=name,
        source=path,
        n_bytes=content.n_bytes,
        digest=content.digest,
        kind=content.kind,
        text=content.text,
    )
