"""Reads the file that holds evals, in JSON, YAML or JSON Lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skilleval.catalog.documents import Document, read_document
from skilleval.catalog.evals.findings import Findings, Said
from skilleval.catalog.yaml_text import read_yaml
from skilleval.errors import CatalogError, Problem

_COMMENTS = ("//", "#")


class Lines(list[tuple[str, Any]]):
    """The values of a JSON Lines file, each with its line as its place."""


def read_evals_document(path: Path, findings: Findings) -> Document:
    """Read a file of evals; the value of JSON Lines is `Lines`.

    Raises:
        CatalogError: the file cannot be read or is not what its name says.
    """
    if path.suffix == ".jsonl":
        return _lines_document(path, findings)
    if path.suffix in {".yaml", ".yml"}:
        value = read_yaml(path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return Document(where=str(path), path=path.resolve(), value=value, digest=digest)
    return read_document(path)


def _lines_document(path: Path, findings: Findings) -> Document:
    where = str(path)
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        problem = Problem(where=where, expected="JSON Lines in UTF-8", found=str(error))
        msg = f"{where} cannot be used"
        raise CatalogError(msg, problems=(problem,)) from None
    values = Lines(_values(text, findings))
    digest = hashlib.sha256(data).hexdigest()
    return Document(where=where, path=path.resolve(), value=values, digest=digest)


def _values(text: str, findings: Findings) -> Iterator[tuple[str, Any]]:
    # Not `splitlines`: a text may hold the other line ends of Unicode, a JSON line ends with a line feed.
    for number, line in enumerate(text.split("\n"), start=1):
        place = f"line {number}"
        if line.lstrip().startswith(_COMMENTS):
            findings.notices.add(place, "not JSON but a comment, passed over")
        elif line.strip():
            try:
                value = json.loads(line, object_pairs_hook=_members)
                # NaN, infinity and half characters pass the parser, but no result file can hold them.
                json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
            except (ValueError, RecursionError) as error:
                findings.problem(place, expected="JSON", found=Said(str(error).lower()))
            else:
                yield place, value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        msg = "a key comes twice"
        raise ValueError(msg)
    return members
