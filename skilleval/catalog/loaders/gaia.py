"""GAIA: questions with one short answer, some with a file that goes with them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from skilleval.catalog.loaders.base import Data, Loader, Row, found, withheld
from skilleval.catalog.paths import is_file
from skilleval.catalog.rules import said

_LEVELS = ("1", "2", "3")
_NOT_PUBLIC = "?"


def _task(row: Row, data: Data) -> dict[str, Any]:
    """Make a task of a row.

    The annotator's steps stay out of it: they give the answer away.
    """
    level = _level(row, data)
    return {
        "id": data.text(row, "task_id"),
        "description": f"level {level}",
        "inputData": {"question": data.text(row, "Question"), **_attachment(row, data)},
        "tags": [f"level-{level}"],
        **_answer(row, data),
    }


def _level(row: Row, data: Data) -> str:
    level = row.value.get("Level")
    if isinstance(level, bool) or str(level) not in _LEVELS:
        data.refuse(row, "Level", expected="1, 2 or 3", found=found(row, "Level"))
    return str(level)


def _answer(row: Row, data: Data) -> dict[str, Any]:
    answer = row.value.get("Final answer")
    if answer == _NOT_PUBLIC:
        return withheld(data, row)
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        return {"expectedOutput": {"value": str(answer)}}
    return {"expectedOutput": {"value": data.text(row, "Final answer")}}


def _attachment(row: Row, data: Data) -> dict[str, Any]:
    if row.value.get("file_name", "") in ("", None):
        return {}
    name = data.text(row, "file_name")
    places = [place for place in (name, row.value.get("file_path")) if isinstance(place, str) and place]
    if not name or not all(_is_inside(place, row, data) for place in places):
        return {}
    path = next((path for path in _candidates(data.folder, places) if is_file(path)), None)
    if path is None:
        expected, hint = f"{name} beside the data file", "download the attachments too, or leave the row out"
        data.refuse(row, "file_name", expected=expected, found="no such file", hint=hint)
        return {}
    # Its content makes the call: another file under the same name is another trial.
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"file": {"name": name, "path": str(path), "sha256": digest}}


def _is_inside(place: str, row: Row, data: Data) -> bool:
    """Refuse a place that would hand the skill a file from anywhere on this machine."""
    if not PurePosixPath(place).is_absolute() and ".." not in PurePosixPath(place).parts:
        return True
    data.refuse(row, "file_name", expected="a file below the folder of the data file", found=said(place))
    return False


def _candidates(folder: Path, places: list[str]) -> Iterator[Path]:
    """Give where an attachment may be: `file_path` starts at the root of the data set, some folders up."""
    for place in places:
        yield folder / place
    for place in places[1:]:
        yield from (parent / place for parent in folder.parents[: len(PurePosixPath(place).parts) - 1])


GAIA = Loader(
    task=_task,
    bring="accept the terms of the data set gaia-benchmark/GAIA on Hugging Face, download a split with its "
    "attachments, and name its metadata.jsonl with --data FILE",
)
