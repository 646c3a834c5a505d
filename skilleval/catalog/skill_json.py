"""Reads `skill.json`, the manifest of a callable skill, and fingerprints the folder it describes.

An `adapter.config.json` beside it is read with it.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.catalog.adapter_config import AdapterConfig, read_adapter_config
from skilleval.catalog.documents import Document, read_document
from skilleval.catalog.notices import Notices
from skilleval.catalog.paths import is_file
from skilleval.catalog.rules import misspelt, said, schema, violations
from skilleval.catalog.shapes import other_than_skill
from skilleval.domain.skills import Skill
from skilleval.errors import CatalogError, Problem

MANIFEST = "skill.json"

# What running a skill leaves behind, or what holds its history: not part of what the skill is.
_NOT_CONTENT = frozenset(
    {"__pycache__", ".git", ".venv", "node_modules", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)
_INTERPRETERS = {
    ".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node", ".sh": "bash", ".rb": "ruby", ".pl": "perl",
}  # fmt: skip
_OUR_RESULTS = "outputs"
"""Directly in the skill's folder it is where a run from there puts its results, which are no part of the skill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillReading:
    """A skill and what its reader has to say about the file."""

    skill: Skill
    notices: tuple[str, ...]


def read_skill(path: Path) -> Skill:
    """Read a skill from its `skill.json` or from the folder that holds it.

    Raises:
        CatalogError: one problem a mistake, with the key, what was expected and what was found.
    """
    return skill_reading(read_document(manifest_path(path))).skill


def manifest_path(path: Path) -> Path:
    """Give the manifest that a path names: the file itself, or `skill.json` in the folder."""
    return path / MANIFEST if path.is_dir() else path


def skill_reading(document: Document) -> SkillReading:
    """Make a skill of a document that was read.

    Raises:
        CatalogError: the document is no manifest, or it or the `adapter.config.json` beside it breaks its rules.
    """
    problems = _shape_problems(document) or _rule_problems(document)
    if problems:
        msg = f"{document.where} is no usable skill"
        raise CatalogError(msg, problems=problems)
    config = read_adapter_config(document.path.parent, document.value)
    skill = _skill(document, config)
    if skill.adapter == "subprocess":
        _check_program(skill, document.where)
    notices = Notices(document.where)
    known = schema("skill")["properties"]
    for key in document.value:
        if key not in known:
            close = misspelt(key, known)
            notices.add(key, f"unknown key, without effect{f' (did you mean {close}?)' if close else ''}")
    return SkillReading(skill=skill, notices=notices.texts)


def _shape_problems(document: Document) -> tuple[Problem, ...]:
    shape = other_than_skill(document.value)
    if shape is None:
        return ()
    hint = "a manifest has id, name, version, adapterType and entrypoint"
    return (Problem(where=document.where, expected="a skill manifest", found=shape, hint=hint),)


def _rule_problems(document: Document) -> tuple[Problem, ...]:
    value = document.value
    broken = violations(value, name="skill", where=document.where)
    if broken or value["adapterType"] != "subprocess":
        return broken
    try:
        shlex.split(value["entrypoint"])
    except ValueError as error:
        found = f"{said(value['entrypoint'])}: {str(error).lower()}"
        expected = "a command line with balanced quotes"
        return (Problem(where=document.where, key="entrypoint", expected=expected, found=found),)
    return ()


def _check_program(skill: Skill, where: str) -> None:
    """Refuse a command line that begins with a script of the skill that cannot be started by its name alone."""
    word = next(iter(shlex.split(skill.entrypoint)), "")
    script = skill.folder / word
    if not word or not is_file(script):
        return
    if "/" not in word and shutil.which(word) is None:
        expected = "a program on the PATH, or a path with a / in it"
    elif "/" in word and not os.access(script, os.X_OK):
        expected = "a program that may be executed"
    else:
        return
    interpreter = _INTERPRETERS.get(script.suffix)
    hint = f"write `{interpreter} {skill.entrypoint}`" if interpreter else "put its interpreter in front"
    found = f"{word}, a file in the folder of the skill"
    problem = Problem(where=where, key="entrypoint", expected=expected, found=found, hint=hint)
    msg = f"{where} is no usable skill"
    raise CatalogError(msg, problems=(problem,))


def _skill(document: Document, config: AdapterConfig) -> Skill:
    value: dict[str, Any] = document.value
    folder = document.path.parent
    return Skill(
        id=value["id"],
        version=value["version"],
        name=value["name"],
        adapter=value["adapterType"],
        entrypoint=config.entrypoint or value["entrypoint"],
        folder=folder,
        source=document.path,
        digest=folder_digest(folder),
        description=value.get("description", ""),
        tags=tuple(value.get("tags", ())),
        input_schema=value.get("inputSchema", {}),
        output_schema=value.get("outputSchema", {}),
        metadata=value.get("metadata", {}),
        adapter_options=config.options,
    )


def folder_digest(folder: Path) -> str:
    """Fingerprint a folder: SHA-256 over the sorted relative paths and what stands there.

    Symbolic links count by the text of their target and are not followed. Empty folders and file modes do not
    count. Byte code, caches, virtual environments, `node_modules`, `.git` and a first-level `outputs` are left out.

    Raises:
        CatalogError: a file in the folder cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for name, path in sorted(_content(folder)):
            # Length before name and a digest of fixed size after it: no two folders write the same bytes.
            digest.update(len(name).to_bytes(8, "big") + name + _fingerprint(path))
    except OSError as error:
        problem = Problem(
            where=str(error.filename), expected="a readable file", found=error.strerror or str(error)
        )
        msg = f"the skill folder {folder} cannot be fingerprinted"
        raise CatalogError(msg, problems=(problem,)) from None
    return digest.hexdigest()


def _content(folder: Path) -> Iterator[tuple[bytes, Path]]:
    for parent, folders, names in os.walk(folder, onerror=_raise):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        ours = {_OUR_RESULTS} if Path(parent) == folder else set()
        folders[:] = [name for name in folders if name not in _NOT_CONTENT | ours]
        for name in (*names, *links):
            if name not in _NOT_CONTENT and not name.endswith(".pyc"):
                path = Path(parent) / name
                yield os.fsencode(path.relative_to(folder).as_posix()), path


def _fingerprint(path: Path) -> bytes:
    if path.is_symlink():
        return b"link" + hashlib.sha256(os.fsencode(path.readlink())).digest()
    if not path.is_file():
        # A pipe or a socket: opening it would wait for ever.
        return b"else" + bytes(32)
    with path.open("rb") as file:
        return b"file" + hashlib.file_digest(file, "sha256").digest()


def _raise(error: OSError) -> None:
    raise error
