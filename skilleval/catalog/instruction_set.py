"""Finds the `SKILL.md` folders that paths name, and gives each an id of its own."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from skilleval.catalog.paths import is_folder
from skilleval.catalog.selection import Selection
from skilleval.catalog.skill_md import MANIFEST, NAMES, read_instruction_skill, skill_file
from skilleval.domain.skills import Skill
from skilleval.errors import CatalogError, Problem

_CALLABLE = "skill.json"
_PASSED_OVER = frozenset({"node_modules", "dist"})


@dataclass(frozen=True, slots=True)
class Found:
    """A skill and where it stands below the folder that was searched."""

    skill: Skill
    root: Path
    path: str


@dataclass(slots=True)
class InstructionReader:
    """Collects instruction skills path by path: one that is broken does not hide the others."""

    selection: Selection
    strict: bool = False
    found: list[Found] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    _seen: set[Path] = field(default_factory=set)

    def path(self, path: Path) -> None:
        """Read what one path names: a `SKILL.md`, a skill's folder, or a folder of skills."""
        try:
            self._existing(path)
        except OSError as error:  # e.g. a name longer than any file system can hold
            found = error.strerror or str(error)
            self.problems.append(Problem(where=str(path), expected="a file or folder", found=found))

    def _existing(self, path: Path) -> None:
        if path.is_file() and path.name not in NAMES:
            hint = f"name the folder of the skill, or its {MANIFEST}"
            expected = f"a {MANIFEST} or a folder"
            problem = Problem(where=str(path), expected=expected, found=f"the file {path.name}", hint=hint)
            self.problems.append(problem)
        elif not path.exists() and not path.is_symlink():
            self.problems.append(Problem(where=str(path), expected="a file or folder", found="nothing there"))
        else:
            self._below(path)

    def _below(self, path: Path) -> None:
        files = tuple(instruction_files(path, self.problems)) if path.is_dir() else (path,)
        root = path if path.is_dir() else path.parent
        for file in files:
            self._file(file, root)
        if not files:
            hint = f"an instruction skill is a folder with a {MANIFEST}"
            if any(True for _ in callable_files(path)):
                hint = f"it holds callable skills ({_CALLABLE}): they are evaluated without a --target"
            expected = "a skill in or below it"
            problem = Problem(where=str(path), expected=expected, found=f"no {MANIFEST}", hint=hint)
            self.problems.append(problem)

    def _file(self, file: Path, root: Path) -> None:
        real = file.resolve()
        if real in self._seen:
            return
        self._seen.add(real)
        below = file.parent.relative_to(root).as_posix()
        path = root.resolve().name if below == "." else below
        if self.selection.rules_out(root, path):
            return
        try:
            reading = read_instruction_skill(file, strict=self.strict)
        except CatalogError as error:
            if self.selection.wants(path, None):
                self.problems += error.problems
            return
        if self.selection.wants(path, reading.skill.id):
            self.notices += reading.notices
            self.found.append(Found(reading.skill, root, path))

    def skills(self) -> tuple[Skill, ...]:
        """Give the skills with ids that are all different: of equal names the paths are taken."""
        names = Counter(each.skill.id for each in self.found)
        paths = Counter(each.path for each in self.found)
        return tuple(self._own_id(each, names, paths) for each in self.found)

    def _own_id(self, each: Found, names: Counter[str], paths: Counter[str]) -> Skill:
        skill = each.skill
        if names[skill.id] == 1 and (skill.id == each.path or skill.id not in paths):
            return skill
        own = each.path if paths[each.path] == 1 else skill.folder.as_posix()
        count = names[skill.id]
        reason = (
            f"{count} skills are called {skill.name}" if count > 1 else f"{skill.name} is the path of another"
        )
        if own != skill.id:
            self.notices.append(f"{skill.source}: has the id {own}, because {reason}")
        return replace(skill, id=own)


def instruction_files(folder: Path, problems: list[Problem]) -> Iterator[Path]:
    """Give the `SKILL.md` of a folder, or those below it; a skill is not searched for further ones.

    Hidden folders, `node_modules` and `dist` are passed over. Links are followed, each real folder once.
    """
    walked: set[Path] = set()

    def unreadable(error: OSError) -> None:
        found = error.strerror or str(error)
        problems.append(Problem(where=str(error.filename), expected="a folder that can be read", found=found))

    for parent, folders, names in os.walk(folder, onerror=unreadable, followlinks=True):
        if Path(parent).resolve() in walked:
            folders.clear()
            continue
        walked.add(Path(parent).resolve())
        if set(NAMES) & set(names):
            folders.clear()
            yield skill_file(Path(parent))
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _PASSED_OVER)


def callable_files(folder: Path) -> Iterator[Path]:
    """Give the manifests of callable skills below a folder, for whoever finds no `SKILL.md` there."""
    if is_folder(folder):
        for parent, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if not name.startswith(".") and name != "node_modules"]
            if _CALLABLE in names:
                yield Path(parent) / _CALLABLE
