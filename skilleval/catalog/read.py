"""Reads the skills that paths name: one broken file is reported and does not hide the others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from skilleval.catalog.documents import read_document
from skilleval.catalog.instruction_set import InstructionReader, instruction_files
from skilleval.catalog.selection import Selection
from skilleval.catalog.shapes import other_than_skill
from skilleval.catalog.skill_json import MANIFEST, manifest_path, skill_reading
from skilleval.catalog.skill_md import NAMES
from skilleval.domain.skills import Skill
from skilleval.errors import CatalogError, Problem

_SUFFIX = Path(MANIFEST).suffix
_TO_A_MODEL = "evaluate with --target MODEL, or with benchmark=evals where model=NAME chooses a model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """The skills that can be used, what is wrong with the others, and what is worth saying."""

    skills: tuple[Skill, ...]
    problems: tuple[Problem, ...]
    notices: tuple[str, ...]


@dataclass(slots=True)
class _Reader:
    selection: Selection
    skills: list[Skill] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    seen: set[Path] = field(default_factory=set)

    def path(self, path: Path) -> None:
        """Read what one path names: a manifest, a skill's folder, or a folder of skills."""
        try:
            self.existing(path)
        except OSError as error:  # e.g. a name longer than any file system can hold
            found = error.strerror or str(error)
            self.problems.append(Problem(where=str(path), expected="a file or folder", found=found))

    def existing(self, path: Path) -> None:
        """Read what one path names, where the file system can say what that is."""
        manifest = manifest_path(path)
        if path.is_file() and path.suffix != _SUFFIX:
            self.problems.append(_no_manifest(path))
        elif manifest.exists() or manifest.is_symlink():
            self.manifest(manifest, root=manifest.parent, named=True)
        elif not path.exists():
            self.problems.append(Problem(where=str(path), expected="a file or folder", found="nothing there"))
        else:
            self.folder(path)

    def folder(self, folder: Path) -> None:
        """Read every manifest below a folder."""
        manifests = tuple(_manifests(folder, self.problems))
        for manifest in manifests:
            self.manifest(manifest, root=folder, named=False)
        if not manifests:
            problem = Problem(
                where=str(folder),
                expected="a skill in or below it",
                found="no skill.json",
                hint=_hint(folder),
            )
            self.problems.append(problem)

    def manifest(self, file: Path, *, root: Path, named: bool) -> None:
        """Read one manifest; a stranger of that name is a problem only where the user named it himself."""
        if file.resolve() in self.seen:
            return
        self.seen.add(file.resolve())
        below = file.parent.relative_to(root).as_posix()
        path = root.resolve().name if below == "." else below
        if self.selection.rules_out(root, path):
            return
        try:
            document = read_document(file)
            shape = other_than_skill(document.value)
            if shape is not None and not named:
                self.notices.append(f"{file}: skipped, not a skill manifest but {shape}")
                return
            reading = skill_reading(document)
        except CatalogError as error:
            self.problems += error.problems if self.selection.wants(path, None) else ()
            return
        if self.selection.wants(path, reading.skill.id):
            self.notices += reading.notices
            self.add(reading.skill)

    def add(self, skill: Skill) -> None:
        """Keep a skill unless another folder holds the very same one."""
        for other in self.skills:
            if (skill.id, skill.version, skill.digest) == (other.id, other.version, other.digest):
                found = f"a copy of {other.source}"
                hint = "name only one of the two"
                expected = f"one {skill.id} {skill.version}"
                self.problems.append(
                    Problem(where=str(skill.source), expected=expected, found=found, hint=hint)
                )
                return
        self.skills.append(skill)


def read_catalog(
    skill_paths: Sequence[Path],
    *,
    form: Literal["callable", "instruction"] = "callable",
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    strict: bool = False,
) -> Catalog:
    """Read all skills that the paths name, in that order, each file once.

    A folder without a skill of its own is searched below; hidden folders and `node_modules` are not. `include` and
    `exclude` are globs on the path below the searched folder and on the id, see `Selection`. `form` says which skills:
    those of a `skill.json`, or those of a `SKILL.md`, of which `strict` asks all that the specification says.
    """
    selection = Selection(include, exclude)
    reader = InstructionReader(selection, strict) if form == "instruction" else _Reader(selection)
    for path in skill_paths:
        reader.path(path)
    skills = reader.skills() if isinstance(reader, InstructionReader) else tuple(reader.skills)
    unfitting = selection.problems(is_empty=not skills and not reader.problems)
    remarks = () if unfitting else selection.remarks()
    return Catalog(
        skills=skills, problems=(*reader.problems, *unfitting), notices=(*reader.notices, *remarks)
    )


def usable_skills(catalog: Catalog, *, skip_invalid: bool) -> tuple[Skill, ...]:
    """Give the skills to evaluate.

    Raises:
        CatalogError: something is wrong and `skip_invalid` is not set, or no skill is left.
    """
    if catalog.problems and not skip_invalid:
        count = len(catalog.problems)
        msg = f"{count} problem{'s' if count > 1 else ''} with the skills"
        hint = "mend them, or leave the files out with --skip-invalid" if catalog.skills else ""
        raise CatalogError(msg, problems=catalog.problems, hint=hint)
    if not catalog.skills:
        hint = "\n".join(catalog.notices)
        raise CatalogError("no usable skill was found", problems=catalog.problems, hint=hint)
    return catalog.skills


def _hint(folder: Path) -> str:
    """Say what a folder without callable skills may be meant as."""
    instructions = list(instruction_files(folder, []))
    if not instructions:
        return "a callable skill is a folder with a skill.json"
    count = len(instructions)
    what = f"{count} instruction skills (SKILL.md)" if count > 1 else "an instruction skill (SKILL.md)"
    return f"it holds {what}: {_TO_A_MODEL}"


def _no_manifest(path: Path) -> Problem:
    """Say that a named file is none of ours; most often a shell has put it among the skills of a folder."""
    kind = f"a {path.suffix} file" if path.suffix else "a file without .json"
    hint = f"to take the skills of a folder, name the folder: {path.parent}, or {path.parent / '*'}/"
    if path.name in NAMES:
        hint = f"it is an instruction skill: {_TO_A_MODEL}"
    return Problem(where=str(path), expected="a skill.json or a folder", found=kind, hint=hint)


def _manifests(folder: Path, problems: list[Problem]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        found = error.strerror or str(error)
        problems.append(Problem(where=str(error.filename), expected="a folder that can be read", found=found))

    walked: set[Path] = set()
    for parent, folders, names in os.walk(folder, onerror=unreadable, followlinks=True):
        # A link may lead back up: each real folder is walked once.
        if Path(parent).resolve() in walked:
            folders.clear()
            continue
        walked.add(Path(parent).resolve())
        if MANIFEST in names:
            folders.clear()
            yield Path(parent) / MANIFEST
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
