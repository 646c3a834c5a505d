"""Lists what lies beside a `SKILL.md`: references with their text, scripts with their first line, assets by name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from skilleval.catalog.contents import Content, read_content
from skilleval.domain.files import BundledFile, FileKind
from skilleval.errors import Problem

EVALS = "evals"
"""The folder of a skill that its subject never sees."""
_SUFFIXES = ("json", "yaml", "yml", "jsonl")
EVALS_FILES = tuple(f"{EVALS}.{suffix}" for suffix in _SUFFIXES)
"""Names of the file with the evals, best first; it may stand in the folder of evals or beside SKILL.md."""
TRIGGER_STEMS = (
    "eval_queries",
    "trigger_queries",
    "should_trigger",
    "triggers",
    "trigger-eval",
    "trigger_eval",
)
TRIGGER_FILES = tuple(f"{stem}.{suffix}" for stem in TRIGGER_STEMS for suffix in _SUFFIXES)
"""Names of files with queries that must, or must not, make a client use the skill."""

_NEVER = frozenset(
    {"__pycache__", ".git", ".venv", "node_modules", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)
# Directly in the folder: what asks about the skill, and where a run from there puts its results.
_APART = frozenset({EVALS, *EVALS_FILES, *TRIGGER_FILES, "outputs"})
_REFERENCE_FOLDERS = ("references", "reference")
_MARKDOWN = frozenset({".md", ".mdx"})
_REFERENCES = _MARKDOWN | {".txt"}


@dataclass(slots=True)
class Bundle:
    """The files of a skill in the order of their paths, its digest, and what is wrong with them.

    The digest covers `SKILL.md` and hidden files too: an agent may get the whole folder.
    """

    files: list[BundledFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    digest: str = ""


def read_bundle(folder: Path, main: str) -> Bundle:
    """Read the folder of a skill; `main` is the name of its `SKILL.md`, `folder` is resolved."""
    bundle, digest = Bundle(), hashlib.sha256()
    for path in _content(folder, bundle):
        name = path.relative_to(folder).as_posix()
        content = _checked(path, folder, bundle)
        if content is None:
            continue
        # Length before the name and a digest of fixed size after it: no two folders give the same bytes.
        raw = os.fsencode(name)
        digest.update(len(raw).to_bytes(8, "big") + raw + bytes.fromhex(content.digest))
        is_hidden = any(part.startswith(".") for part in name.split("/"))
        if name != main and not is_hidden:
            bundle.files.append(_file(name, content))
    bundle.digest = digest.hexdigest()
    return bundle


def _content(folder: Path, bundle: Bundle) -> Iterator[Path]:
    """Give files and links in the order of their paths; links to folders are not followed."""

    def unreadable(error: OSError) -> None:
        found = error.strerror or str(error)
        bundle.problems.append(Problem(where=str(error.filename), expected="a readable folder", found=found))

    found: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=unreadable):
        place = Path(parent)
        left_out = _NEVER | _APART if place == folder else _NEVER
        links = [name for name in folders if (place / name).is_symlink()]
        folders[:] = [name for name in folders if name not in left_out]
        kept = (name for name in (*names, *links) if name not in left_out and not name.endswith(".pyc"))
        found += [place / name for name in kept]
    yield from sorted(found)


def _checked(path: Path, folder: Path, bundle: Bundle) -> Content | None:
    """Read a file of the skill, unless it leads elsewhere; what is wrong goes into the bundle."""
    name = path.relative_to(folder).as_posix()
    if not name.isprintable() and not _is_utf8(name):
        bundle.problems.append(Problem(where=ascii(str(path)), expected="a name in UTF-8", found="another"))
        return None
    if path.is_symlink():
        problem = link_problem(path, folder)
        if problem is not None:
            bundle.problems.append(problem)
            return None
        if not path.exists():
            bundle.remarks.append(f"{path}: left out, a link to {path.readlink()}, which is not there")
    if not path.is_file():  # a link to a folder that is read under its own name, a pipe, a socket
        return None
    try:
        return read_content(path)
    except OSError as error:
        found = error.strerror or str(error)
        bundle.problems.append(Problem(where=str(path), expected="a readable file", found=found))
        return None


def link_problem(link: Path, folder: Path) -> Problem | None:
    """Refuse a link that leaves the folder of the skill, or that shows its evals under another name."""
    try:
        target = link.resolve()
    except (OSError, RuntimeError):  # a link to itself
        return Problem(where=str(link), expected="a link to a file", found="a circle of links")
    expected = "a link that stays in the folder of the skill"
    if not target.is_relative_to(folder):
        hint = "copy the file into the skill"
        return Problem(where=str(link), expected=expected, found=f"a link to {target}", hint=hint)
    parts = target.relative_to(folder).parts
    if parts and parts[0] in _APART - {"outputs"}:
        expected = "a link that does not show the evals"
        return Problem(where=str(link), expected=expected, found=f"a link to {target}")
    return None


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _file(name: str, content: Content) -> BundledFile:
    role = _role(name)
    text = content.text if role == "reference" else None
    if role == "script":
        text = _shebang(content)
    kind = content.kind
    if role != "reference" and kind is FileKind.CUT:
        kind = FileKind.TEXT  # nothing of it is shown that could be cut
    return BundledFile(
        path=name, role=role, n_bytes=content.n_bytes, digest=content.digest, kind=kind, text=text
    )


def _role(name: str) -> str:
    first, *rest = name.split("/")
    suffix = Path(name).suffix.lower()
    if rest and first == "scripts":
        return "script"
    is_reference = suffix in _REFERENCES and first in _REFERENCE_FOLDERS if rest else suffix in _MARKDOWN
    return "reference" if is_reference else "asset"


def _shebang(content: Content) -> str:
    first = (content.text or "").split("\n", 1)[0].rstrip("\r")
    return first if first.startswith("#!") else ""
