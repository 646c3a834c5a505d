"""Reads a `SKILL.md` folder: instructions for a model, as the Agent Skills standard describes them.

As clients do, a skill is loaded in spite of a wrong name and left out where its description or its frontmatter cannot
be read; `strict` asks for all that the specification says.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from skilleval.catalog.bundle import Bundle, link_problem, read_bundle
from skilleval.catalog.frontmatter import SkillText, read_skill_text
from skilleval.catalog.paths import is_file, is_folder
from skilleval.catalog.skill_json import SkillReading
from skilleval.domain.skills import Instructions, Skill
from skilleval.errors import CatalogError, Problem

MANIFEST = "SKILL.md"
NAMES = (MANIFEST, "skill.md")
"""Names of the file, in the order in which they are looked for; the second is read with a remark."""


def read_instruction_skill(path: Path, *, strict: bool = False) -> SkillReading:
    """Read a skill from its `SKILL.md` or from the folder that holds it; its id is its name.

    `strict` makes a problem of everything that the specification forbids.

    Raises:
        CatalogError: all problems of the skill together.
    """
    file = skill_file(path)
    problem = _absent(file)
    if problem is not None:
        _refuse(file, (problem,))
    folder = file.parent.resolve()
    outside = link_problem(file, folder) if file.is_symlink() else None
    if outside is not None:
        _refuse(file, (outside,))
    try:
        text = read_skill_text(file)
    except OSError as error:
        _refuse(file, (Problem(where=str(file), expected="a readable file", found=str(error.strerror)),))
    bundle = read_bundle(folder, file.name)
    stopping = tuple(fault.problem for fault in text.faults if strict or fault.fatal)
    if stopping or bundle.problems:
        _refuse(file, (*stopping, *bundle.problems))
    return SkillReading(skill=_skill(file, text, bundle), notices=_notices(file, text, bundle))


def skill_file(path: Path) -> Path:
    """Give the file that a path names: itself, or the `SKILL.md` in the folder, whether it is there or not."""
    if not is_folder(path):
        return path
    return next((path / name for name in NAMES if _is_named(path, name)), path / MANIFEST)


def _is_named(folder: Path, name: str) -> bool:
    """Say whether a folder has a file of just that name; some file systems do not mind upper and lower case."""
    return any(entry.name == name for entry in folder.iterdir())


def _absent(file: Path) -> Problem | None:
    if is_file(file):
        return None
    found = f"a link to {file.readlink()}, which is not there" if file.is_symlink() else "nothing there"
    return Problem(where=str(file), expected=f"a file {MANIFEST}", found=found)


def _refuse(file: Path, problems: tuple[Problem, ...]) -> NoReturn:
    msg = f"{file} is no usable skill"
    raise CatalogError(msg, problems=problems)


def _skill(file: Path, text: SkillText, bundle: Bundle) -> Skill:
    values, folder = text.values, file.parent.resolve()
    name = _text(values, "name") or folder.name
    metadata = values.get("metadata")
    version = _text(metadata, "version") if isinstance(metadata, Mapping) else ""
    return Skill(
        id=name,
        version=version or f"@{bundle.digest[:8]}",
        name=name,
        adapter="chat",
        entrypoint=file.name,
        folder=folder,
        source=folder / file.name,
        digest=bundle.digest,
        description=_text(values, "description"),
        metadata=metadata if isinstance(metadata, Mapping) else {},
        instructions=Instructions(body=text.body, frontmatter=values, files=tuple(bundle.files)),
    )


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return "" if value is None or isinstance(value, dict | list) else str(value).strip()


def _notices(file: Path, text: SkillText, bundle: Bundle) -> tuple[str, ...]:
    named = () if file.name == MANIFEST else (f"{file}: read, but other clients look for {MANIFEST}",)
    return (*named, *text.remarks, *(str(fault.problem) for fault in text.faults), *bundle.remarks)
