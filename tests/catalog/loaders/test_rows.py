from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from skilleval.catalog.loaders.rows import read_rows
from skilleval.errors import CatalogError, Problem


def problems_of(path: Path) -> tuple[Problem, ...]:
    """Give the problems of reading a data file."""
    with pytest.raises(CatalogError) as caught:
        read_rows(path)
    return caught.value.problems


def test_lines_and_lists_give_the_same_rows(tmp_path: Path) -> None:
    """JSON Lines and a JSON list are told apart by what they hold, and a row knows its place."""
    lines, listed = tmp_path / "a.json", tmp_path / "b.jsonl"
    lines.write_text('\ufeff{"a": 1}\r\n\n{"a": "x\u2028y"}\n', encoding="utf-8")
    listed.write_text(' [{"a": 1},\n {"a": "x\u2028y"}]', encoding="utf-8")
    assert [(row.place, row.value) for row in read_rows(lines).rows] == [
        ("line 1", {"a": 1}),
        ("line 3", {"a": "x\u2028y"}),
    ]
    assert [(row.place, row.task) for row in read_rows(listed).rows] == [
        ("[0]", "tasks[0]"),
        ("[1]", "tasks[1]"),
    ]


def test_a_data_file_is_known_by_its_bytes_and_its_folder(tmp_path: Path) -> None:
    """The digest is that of the file, and the folder the one it was named in, also where it is a link."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "0123").write_text("{}", encoding="utf-8")
    link = tmp_path / "data.jsonl"
    link.symlink_to(tmp_path / "blobs" / "0123")
    data = read_rows(link)
    assert (data.digest, data.folder) == (hashlib.sha256(b"{}").hexdigest(), tmp_path)


@pytest.mark.parametrize(
    ("content", "key", "found"),
    [
        (b"", "", "none"),
        (b" \n\n", "", "none"),
        (b"[]", "", "none"),
        (b'{"a": 1}\n{"a": \n', "line 2", "expecting value"),
        (b'[{"a": 1},\n {"a" 1}]', "line 2", "expecting ':' delimiter"),
        (b'{"a": 1}\n[1, 2]\n', "line 2", "a list of 2 items"),
        (b'[{}, "x"]', "[1]", "a text"),
        (b"\xff\xfe", "", "byte 0xff at offset 0"),
        (b"PAR1\x15\x04", "", "a Parquet file"),
    ],
)
def test_what_is_no_row_is_said_with_its_place(content: bytes, key: str, found: str, tmp_path: Path) -> None:
    """An empty file, a broken line, a value that is no object and another format are named."""
    path = tmp_path / "data.jsonl"
    path.write_bytes(content)
    (problem,) = problems_of(path)
    assert (problem.where, problem.key, problem.found) == (str(path), key, found)


@pytest.mark.parametrize("value", ["NaN", "1e999", '"\\ud800"', "[" * 100_000])
def test_what_no_result_can_hold_is_refused(value: str, tmp_path: Path) -> None:
    """NaN, infinity, half a character and bottomless nesting are found before the first call."""
    path = tmp_path / "data.jsonl"
    path.write_text(f'{{"a": 1}}\n{{"a": {value}', encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8") + "}\n", encoding="utf-8")
    (problem,) = problems_of(path)
    assert problem.key == "line 2"


def test_a_parquet_file_is_answered_with_how_to_convert_it(tmp_path: Path) -> None:
    """The hint holds the command."""
    path = tmp_path / "metadata.parquet"
    path.write_bytes(b"PAR1")
    (problem,) = problems_of(path)
    assert "polars.read_parquet" in problem.hint


def test_a_missing_data_file_is_a_problem(tmp_path: Path) -> None:
    """A path that leads nowhere is said as the user wrote it."""
    (problem,) = problems_of(tmp_path / "none.jsonl")
    assert (problem.where, problem.found) == (str(tmp_path / "none.jsonl"), "No such file or directory")
