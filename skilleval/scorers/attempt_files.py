"""An attempt laid out as files, as graders find it: what was asked, what came out, what it was about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from skilleval.domain.files import FileKind, TaskFile
from skilleval.scorers.base import MISSING, ScoringRecord

LAYOUT = "outputs/response.txt or outputs/output.json, tool_calls.json, inputs/<file>, attempt.json"


class UnusableFileError(ValueError):
    """A file that cannot be laid out; the message says which and why."""


def attempt_files(record: ScoringRecord) -> Mapping[str, bytes]:
    """Give the files of an attempt by path: `outputs/response.txt` for a text, else `outputs/output.json`.

    Beside them `tool_calls.json` where a model was asked, `inputs/` with the task's files, and `attempt.json` with the
    prompt, the input and what is expected. An attempt without output has none in `outputs/`.

    Raises:
        UnusableFileError: an input file has changed since it was read, or its name leaves the folder.
        RecursionError: a value is nested too deeply to be written out.
    """
    files = {"attempt.json": _json(_asked(record))}
    if isinstance(record.output, str):
        files["outputs/response.txt"] = record.output.encode("utf-8", "surrogatepass")
    elif record.output is not MISSING:
        files["outputs/output.json"] = _json(record.output)
    if record.tool_calls is not None:
        files["tool_calls.json"] = _json([dict(call) for call in record.tool_calls])
    for file in record.files:
        files[f"inputs/{plain_path(file.name)}"] = _content(file)
    return files


def plain_path(path: object) -> str:
    """Give a path below a folder in its plain form, without `.` and doubled slashes.

    Raises:
        UnusableFileError: it is no path, or it may leave the folder.
    """
    if not isinstance(path, str) or not path or "\0" in path:
        raise UnusableFileError(f"{path!r} is no path of a file")
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or not parts:
        raise UnusableFileError(f"the path {path!r} leaves the folder of the attempt")
    return "/".join(parts)


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files into an empty folder."""
    (folder / "outputs").mkdir()
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def _asked(record: ScoringRecord) -> Mapping[str, Any]:
    prompt = {"prompt": record.input["prompt"]} if "prompt" in record.input else {}
    return {**prompt, "input": dict(record.input), "expected": dict(record.expected)}


def _content(file: TaskFile) -> bytes:
    """Give the bytes of an input file as every arm got them."""
    try:
        content = file.source.read_bytes()
    except OSError:
        content = b""
    if hashlib.sha256(content).hexdigest() == file.digest:
        return content
    if file.kind is FileKind.TEXT and file.text is not None:
        return file.text.encode("utf-8", "surrogatepass")
    raise UnusableFileError(f"the input file {file.name!r} is not what it was when the tasks were read")


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
