"""Reads the rows of a data file: a JSON list, or JSON Lines whatever the file is called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from skilleval.catalog.loaders.base import Data, Row
from skilleval.catalog.notices import Notices
from skilleval.catalog.shapes import described
from skilleval.errors import CatalogError, Problem

_PARQUET = b"PAR1"
_CONVERT = (
    """convert it: python -c "import polars; polars.read_parquet('IN.parquet').write_ndjson('OUT.jsonl')\""""
)


def read_rows(path: Path) -> Data:
    """Read the rows of a data file.

    Raises:
        CatalogError: the file cannot be read, holds no row, or something in it is no object.
    """
    where = str(path)
    text, digest = _text(path)
    placed = list(_listed(text, where) if text.lstrip().startswith("[") else _lines(text, where))
    strangers = [
        Problem(where=where, key=place, expected="an object", found=described(value))
        for place, value in placed
        if not isinstance(value, dict)
    ]
    if strangers or not placed:
        _refuse(*strangers or [Problem(where=where, expected="at least one row", found="none")])
    rows = tuple(
        Row(place=place, task=f"tasks[{index}]", value=value) for index, (place, value) in enumerate(placed)
    )
    return Data(where=where, folder=path.absolute().parent, digest=digest, rows=rows, notices=Notices(where))


def _text(path: Path) -> tuple[str, str]:
    where = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        found = error.strerror or str(error)
        _refuse(Problem(where=where, expected="a data file that can be read", found=found))
    if data.startswith(_PARQUET):
        expected = "JSON Lines or a JSON list"
        _refuse(Problem(where=where, expected=expected, found="a Parquet file", hint=_CONVERT))
    try:
        return data.decode("utf-8-sig"), hashlib.sha256(data).hexdigest()
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        _refuse(Problem(where=where, expected="UTF-8 text", found=found, hint="save the file as UTF-8"))


def _listed(text: str, where: str) -> Iterator[tuple[str, Any]]:
    values = _parsed(text, where, "")
    yield from ((f"[{index}]", value) for index, value in enumerate(values))


def _lines(text: str, where: str) -> Iterator[tuple[str, Any]]:
    # Not `splitlines`: a text may hold the other line ends of Unicode, a JSON line ends with a line feed.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"line {number}", _parsed(line, where, f"line {number}")


def _parsed(text: str, where: str, place: str) -> Any:
    try:
        value = json.loads(text)
        # NaN, infinity and half characters pass the parser, but no result file can hold them.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except json.JSONDecodeError as error:
        place = place or f"line {error.lineno}"
        _refuse(Problem(where=where, key=place, expected="JSON", found=error.msg.lower()))
    except (ValueError, RecursionError) as error:
        _refuse(Problem(where=where, key=place, expected="JSON that can be stored", found=str(error)))
    return value


def _refuse(*problems: Problem) -> NoReturn:
    msg = f"{problems[0].where} cannot be used"
    raise CatalogError(msg, problems=tuple(problems))
