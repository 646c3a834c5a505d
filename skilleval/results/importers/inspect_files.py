"""The two files in which Inspect keeps a log: one JSON document, or a zip of them. Read without Inspect itself."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skilleval.results.importers.files import glimpse, parsed, read_json
from skilleval.results.importers.node import Node, unusable

_HEADER = "header.json"
_START = "_journal/start.json"
"""What a log has instead of its header as long as it is being written, or for good if that was cut short."""
_SAMPLES = "samples/"
_MAX_BYTES = 1 << 30
"""A member that unpacks to more than this is no sample of an evaluation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A log: what was evaluated and how that ended, and the samples. `is_whole` is false without a header."""

    header: Node
    samples: tuple[Node, ...]
    is_whole: bool = True


def read_log(path: Path) -> Log:
    """Read a log.

    Raises:
        ResultsError: it is damaged, or packed in a way that this Python cannot unpack.
    """
    if not zipfile.is_zipfile(path):
        document = read_json(path)
        return Log(header=document, samples=tuple(document.get("samples").items()))
    try:
        with zipfile.ZipFile(path) as archive:
            return _unpacked(archive, path)
    except NotImplementedError as error:
        hint = "write it again as JSON: inspect log convert --to json"
        raise unusable(str(path), "", "a packing that this Python knows", str(error), hint) from None
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise unusable(str(path), "", "a whole Inspect log", str(error), "the file may be cut off") from None


def _unpacked(archive: zipfile.ZipFile, path: Path) -> Log:
    names = archive.namelist()
    first = next((name for name in (_HEADER, _START) if name in names), None)
    if first is None:
        raise unusable(str(path), "", f"an Inspect log with {_HEADER} or {_START}", "neither in the archive")
    samples = sorted(name for name in names if name.startswith(_SAMPLES) and name.endswith(".json"))
    return Log(
        header=_member(archive, first, path),
        samples=tuple(_member(archive, name, path) for name in samples),
        is_whole=first == _HEADER,
    )


def _member(archive: zipfile.ZipFile, name: str, path: Path) -> Node:
    size = archive.getinfo(name).file_size
    if size > _MAX_BYTES:
        raise unusable(str(path), name, f"at most {_MAX_BYTES} bytes", f"{size} bytes")
    return parsed(archive.read(name), f"{path}!{name}")


def logs(path: Path) -> Iterator[Path]:
    """Give the file itself, or the logs in a folder and below."""
    if path.is_file():
        yield path
    else:
        yield from (file for file in sorted(path.rglob("*")) if is_log(file))


def is_log(path: Path) -> bool:
    """Say whether a file is such a log."""
    if not path.is_file():
        return False
    if path.suffix == ".eval":
        return True
    found = glimpse(path) if path.suffix == ".json" else None
    if found is None or not isinstance(found.value, dict):
        return False
    about = found.value.get("eval")
    return isinstance(about, dict) and {"task", "model"} <= about.keys()
