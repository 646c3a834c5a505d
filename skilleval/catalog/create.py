"""Makes new things from templates: a skill with its starter benchmark, and the folders of a project."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Any

from skilleval.catalog.skill_json import MANIFEST
from skilleval.errors import CatalogError, Problem, UsageError
from skilleval.strict import nearest

TEMPLATES = ("http_request", "mcp_tool", "node_script", "python_script")
STARTER = "tests/basic.eval.json"
_STARTER_TEMPLATE = "basic.eval.json"
_SUFFIX = ".template"
"""Ends the names of programs and manifests here: nobody takes them for parts of this package or for skills."""

_NO_WORD = re.compile(r"[^a-z0-9_-]+")
_SLUG_LENGTH = 40
_HASH_LENGTH = 8
# Names of devices, which some systems refuse as folder names.
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
)

_FOLDERS = ("skills", "benchmarks")
_FILES = {"skilleval.yaml": "skilleval.yaml", "conf/README.md": "conf.md"}
_RESULTS = "outputs/"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedSkill:
    """A new skill: its id, its folder, and every file in it."""

    id: str
    folder: Path
    files: tuple[Path, ...]

    @property
    def starter(self) -> Path:
        """The starter benchmark, which the skill passes as it is."""
        return self.folder / STARTER


class Change(StrEnum):
    """What became of a file or folder of a project."""

    MADE = "made"
    EXTENDED = "extended"
    KEPT = "kept"


def skill_id(name: str) -> str:
    """Give the id of a new skill: an ASCII word, distinct for distinct names, that is a safe folder name.

    A name that is such a word already is its own id; where anything of it had to go, a hash keeps it apart.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    word = _NO_WORD.sub("-", plain)[:_SLUG_LENGTH].strip("-_")
    if word == name and not is_device(word):
        return word
    digest = hashlib.sha256(name.encode()).hexdigest()[:_HASH_LENGTH]
    return f"{word or 'skill'}-{digest}"


def is_device(word: str) -> bool:
    """Say whether a word is the name of a device somewhere, and so no safe name of a folder."""
    return word in _DEVICES


def create_skill(name: str, *, template: str, output_dir: Path, description: str) -> CreatedSkill:
    """Make a skill that works. Its folder stands in `output_dir` under its id; nothing is overwritten.

    Raises:
        UsageError: there is no such template, or the name is no text that can be stored.
        CatalogError: the folder exists already, or cannot be written.
    """
    _check(name, template)
    identity = skill_id(name)
    folder = output_dir / identity
    texts = dict(_texts(template, {"id": identity, "name": name, "description": description}))
    try:
        folder.mkdir(parents=True)
        for path, text in texts.items():
            write_new(folder / path, text)
    except FileExistsError:
        hint = "choose another --name or --output-dir"
        problem = Problem(where=str(folder), expected="no such folder yet", found="it exists", hint=hint)
        raise CatalogError("a skill is never overwritten", problems=(problem,)) from None
    except OSError as error:
        raise not_writable(error) from None
    return CreatedSkill(id=identity, folder=folder, files=tuple(folder / path for path in sorted(texts)))


def create_project(folder: Path) -> dict[Path, Change]:
    """Make the files and folders of a project, and say what became of each; what is there already is kept.

    Raises:
        CatalogError: something cannot be written.
    """
    root = files(__package__) / "templates" / "project"
    try:
        changes = {folder / name: _made_folder(folder / name) for name in _FOLDERS}
        for name, source in _FILES.items():
            changes[folder / name] = _made_file(folder / name, (root / source).read_text(encoding="utf-8"))
        changes[folder / ".gitignore"] = _ignored(folder / ".gitignore")
    except (OSError, UnicodeDecodeError) as error:
        raise not_writable(error) from None
    return changes


def _check(name: str, template: str) -> None:
    if template not in TEMPLATES:
        expected = f"one of {', '.join(TEMPLATES)}"
        hint = nearest(template, list(TEMPLATES))
        problem = Problem(where="--from-template", expected=expected, found=template, hint=hint)
        raise UsageError("there is no such template", problems=(problem,))
    if not name.strip() or not name.isprintable():
        problem = Problem(where="--name", expected="a name, in one line of printable text", found=ascii(name))
        raise UsageError("a skill needs a name", problems=(problem,))


def _texts(template: str, about: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Give the files of a new skill: path inside its folder, content."""
    root = files(__package__) / "templates"
    for file in (root / template).iterdir():
        text, name = file.read_text(encoding="utf-8"), file.name.removesuffix(_SUFFIX)
        yield name, _filled(text, about) if name == MANIFEST else text
    benchmark = {"id": f"{about['id']}-basic", "name": f"{about['name']}: first tasks"}
    yield STARTER, _filled((root / _STARTER_TEMPLATE).read_text(encoding="utf-8"), benchmark)


def _filled(text: str, members: Mapping[str, Any]) -> str:
    return json.dumps({**json.loads(text), **members}, indent=2, ensure_ascii=False) + "\n"


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, with the folders on the way to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Exclusive: a file that somebody else made meanwhile is not overwritten either.
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def _made_folder(folder: Path) -> Change:
    if folder.is_dir():
        return Change.KEPT
    write_new(folder / ".gitkeep", "")
    return Change.MADE


def _made_file(path: Path, text: str) -> Change:
    if path.exists():
        return Change.KEPT
    write_new(path, text)
    return Change.MADE


def _ignored(path: Path) -> Change:
    """Keep results out of version control: one line more in the file, unless it stands there."""
    if not path.exists():
        write_new(path, f"{_RESULTS}\n")
        return Change.MADE
    text = path.read_text(encoding="utf-8")
    if {line.strip().strip("/") for line in text.splitlines()} & {"outputs", "outputs/*"}:
        return Change.KEPT
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{'' if text.endswith(chr(10)) or not text else chr(10)}{_RESULTS}\n")
    return Change.EXTENDED


def not_writable(error: OSError | UnicodeDecodeError) -> CatalogError:
    """Give the error that says where nothing can be written."""
    if isinstance(error, UnicodeDecodeError):
        problem = Problem(where=".gitignore", expected="UTF-8 text", found=str(error))
    else:
        problem = Problem(
            where=str(error.filename), expected="a place to write to", found=error.strerror or str(error)
        )
    return CatalogError("nothing can be made here", problems=(problem,))
