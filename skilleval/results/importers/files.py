"""Reading the files of other tools: JSON with its place, and the digest of what was read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from skilleval.results.importers.node import Node, unusable

_BLOCK = 1024 * 1024


def read_json(path: Path) -> Node:
    """Read a JSON file; a byte order mark is passed over.

    Raises:
        ResultsError: it cannot be read, or is no JSON; says the line.
    """
    return parsed(_bytes(path), str(path))


def parsed(data: bytes, where: str) -> Node:
    """Read bytes as JSON.

    Raises:
        ResultsError: they are none.
    """
    try:
        return Node(json.loads(data.decode("utf-8-sig")), where)
    except UnicodeDecodeError as error:
        raise unusable(where, "", "UTF-8 text", f"byte {error.start} that is none") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise unusable(where, "", "JSON", place, "the file may be cut off") from None
    except RecursionError:
        raise unusable(where, "", "JSON", "values nested too deep") from None


def glimpse(path: Path) -> Node | None:
    """Read a JSON file to see what it is; null where it is no file, or no JSON."""
    if not path.is_file():
        return None
    try:
        return Node(json.loads(path.read_bytes().decode("utf-8-sig")), str(path))
    except (OSError, ValueError, RecursionError):
        return None


def read_text(path: Path) -> str | None:
    """Read a text, with signs for bytes that are no UTF-8; null where there is no such file.

    Raises:
        ResultsError: it is there and cannot be read.
    """
    return _bytes(path).decode("utf-8", "replace") if path.is_file() else None


def digest(path: Path) -> str:
    """Give the SHA-256 of a file, or of the names and contents of all files in a folder.

    Raises:
        ResultsError: a file cannot be read.
    """
    total = hashlib.sha256()
    if path.is_file():
        _add(total, path)
        return total.hexdigest()
    for file in sorted(one for one in path.rglob("*") if one.is_file()):
        total.update(file.relative_to(path).as_posix().encode("utf-8", "surrogateescape") + b"\0")
        _add(total, file)
    return total.hexdigest()


def _add(total: hashlib._Hash, file: Path) -> None:
    try:
        with file.open("rb") as opened:
            while block := opened.read(_BLOCK):
                total.update(block)
    except OSError as error:
        raise _unreadable(file, error) from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> Exception:
    return unusable(str(path), "", "a file that can be read", error.strerror or str(error))
