"""Files that a subject is given, read once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class FileKind(StrEnum):
    """What of a file a model can be shown: all of it, its beginning, or only that it is there."""

    TEXT = "text"
    CUT = "cut"
    BINARY = "binary"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledFile:
    """A file of an instruction skill; `path` is relative to the skill, `text` null where it is never shown.

    `role` is `reference` (shown), `script` (its first line is shown where that is a shebang) or `asset` (named only).
    """

    path: str
    role: str
    n_bytes: int
    digest: str
    kind: FileKind
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFile:
    """An input file of a task, read once, so that every arm of a comparison gets the same bytes.

    `name` is what the subject sees; `text` is null for a binary one, and its beginning for one that was cut.
    """

    name: str
    source: Path
    n_bytes: int
    digest: str
    kind: FileKind
    text: str | None = None
