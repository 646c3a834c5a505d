"""Another edition of an instruction skill: as it stands in another folder, or as git has it."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from skilleval.catalog.paths import is_folder
from skilleval.catalog.skill_md import MANIFEST, read_instruction_skill
from skilleval.domain.skills import Skill
from skilleval.errors import CatalogError, Problem

_KEY = "skill_set.old"
_PATIENCE_S = 60.0
_SHOWN = 200  # characters of what was named, or of what git says


def old_editions(skills: Sequence[Skill], old: str) -> dict[str, Skill]:
    """Read the old edition of each skill, by the id that the present one has.

    `old` is a folder (of the one skill, or with a folder of the same name for each) or a git ref.

    Raises:
        CatalogError: a skill has no old edition there, or it cannot be read.
    """
    folder = Path(old)
    is_there = is_folder(folder)
    return {
        skill.id: _named(
            _in_folder(skill, folder, alone=len(skills) == 1) if is_there else _in_git(skill, old),
            skill,
        )
        for skill in skills
    }


def _named(edition: Skill, skill: Skill) -> Skill:
    """Give the edition the id of the present one, so that both are the same skill to whoever compares."""
    return replace(edition, id=skill.id)


def _in_folder(skill: Skill, folder: Path, *, alone: bool) -> Skill:
    for place in (folder / skill.folder.resolve().name, *([folder] if alone else [])):
        if (place / MANIFEST).is_file():
            return read_instruction_skill(place).skill
    raise _absent(skill, str(folder), f"a folder {skill.folder.resolve().name} with a {MANIFEST}")


def _in_git(skill: Skill, ref: str) -> Skill:
    """Read the edition that a commit holds; nothing in the work tree is touched."""
    packed = _git(skill, ref, "archive", "--format=tar", ref, "--", ".")
    with tempfile.TemporaryDirectory(prefix="skilleval-old-") as room:
        place = Path(room) / skill.folder.resolve().name
        try:
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(place, filter="data")
        except tarfile.FilterError as error:
            raise _absent(skill, ref, "links that stay in the folder of the skill", str(error)) from None
        if not (place / MANIFEST).is_file():
            raise _absent(skill, ref, f"a commit with this {MANIFEST}")
        edition = read_instruction_skill(place).skill
    return replace(edition, folder=skill.folder, source=skill.source)


def _git(skill: Skill, ref: str, *arguments: str) -> bytes:
    if ref.startswith("-") or "\0" in ref:
        raise _absent(skill, ref, "a folder or a git ref")
    command = ["git", "-C", str(skill.folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_PATIENCE_S)  # noqa: S603 - no shell
    except OSError as error:
        raise _absent(skill, ref, "git on the PATH, or a folder", str(error)) from None
    except subprocess.TimeoutExpired:
        raise _absent(skill, ref, "git to answer", f"nothing for {_PATIENCE_S:g} s") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0][:_SHOWN]
        raise _absent(skill, ref, "a folder, or a git ref of the repository the skill is in", said)
    return done.stdout


def _absent(skill: Skill, old: str, expected: str, found: str = "") -> CatalogError:
    named = old if len(old) <= _SHOWN else f"{old[:_SHOWN]}…"
    problem = Problem(
        where=str(skill.folder), key=_KEY, expected=expected, found=f"{named}: {found}" if found else named
    )
    return CatalogError(f"there is no old edition of the skill {skill.id}", problems=(problem,))
