from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from skilleval.catalog.documents import key_path, read_document
from skilleval.errors import CatalogError, Problem


def problem_of(data: bytes, tmp_path: Path) -> Problem:
    """Write bytes to a file and give the one problem of reading it."""
    path = tmp_path / "file.json"
    path.write_bytes(data)
    with pytest.raises(CatalogError) as caught:
        read_document(path)
    assert caught.value.problems[0].where == str(path)
    return caught.value.problems[0]


def test_a_document_carries_the_digest_of_its_bytes(tmp_path: Path) -> None:
    """The digest is the SHA-256 of the file as it is, spaces included."""
    path = tmp_path / "a.json"
    path.write_bytes(b' {"a": 1}\n')
    document = read_document(path)
    assert document.value == {"a": 1}
    assert document.digest == hashlib.sha256(b' {"a": 1}\n').hexdigest()


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    """A UTF-8 byte order mark does not make JSON unreadable."""
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": "\xc3\xa9"}\r\n')
    assert read_document(path).value == {"a": "é"}


@pytest.mark.parametrize("data", [b"", b"  \n\t", b"\xef\xbb\xbf"])
def test_an_empty_file_is_called_empty(data: bytes, tmp_path: Path) -> None:
    """Nothing, white space and a lone byte order mark are an empty file."""
    assert problem_of(data, tmp_path).found == "an empty file"


def test_broken_json_is_reported_with_its_place(tmp_path: Path) -> None:
    """The line and the column of the first mistake are named, and a hint about comments."""
    problem = problem_of(b'{\n  "a": 1,\n  // no\n  "b": 2\n}', tmp_path)
    assert problem.key == "line 3, column 3"
    assert "comments" in problem.hint


@pytest.mark.parametrize("data", [b'{"a": 1} {"b": 2}', b"{'a': 1}", b'{"a": 1,}', b"[1, 2", b"nope"])
def test_what_is_not_json_is_refused(data: bytes, tmp_path: Path) -> None:
    """Two documents, single quotes, a trailing comma, a missing bracket and words are not JSON."""
    assert problem_of(data, tmp_path).expected == "JSON"


def test_bytes_that_are_not_utf8_are_reported_with_their_offset(tmp_path: Path) -> None:
    """The first byte that is not UTF-8 is named with its place."""
    assert problem_of(b'{"a": "\xe9"}', tmp_path).found == "byte 0xe9 at offset 7"


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b'{"id": 1, "id": 1}', "id"),
        (b'{"tasks": [{}, {"id": 1, "x": {}, "id": 2}]}', "tasks[1].id"),
        (b'{"a": {"b c": 1, "b c": 2}}', 'a["b c"]'),
    ],
)
def test_a_repeated_key_is_refused_with_its_path(data: bytes, key: str, tmp_path: Path) -> None:
    """A key that stands twice in one object is refused, even with equal values."""
    problem = problem_of(data, tmp_path)
    assert (problem.key, problem.expected) == (key, "each key once")


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_es15_numbers_that_are_not_finite_are_refused(text: str, tmp_path: Path) -> None:
    """NaN, infinity and numbers too large for a float are refused with their key."""
    problem = problem_of(f'{{"tasks": [{{"weight": {text}}}]}}'.encode(), tmp_path)
    assert (problem.key, problem.found) == ("tasks[0].weight", text)


@pytest.mark.parametrize(
    ("data", "key"), [(rb'{"a": ["\ud800"]}', "a[0]"), (rb'{"\udc00": 1}', r'["\udc00"]')]
)
def test_text_that_cannot_be_written_as_utf8_is_refused(data: bytes, key: str, tmp_path: Path) -> None:
    """A lone surrogate could be read but never be stored."""
    problem = problem_of(data, tmp_path)
    assert (problem.key, problem.expected) == (key, "text that UTF-8 can hold")


def test_a_pair_of_surrogates_is_one_character(tmp_path: Path) -> None:
    """An escaped character beyond the basic plane is plain text."""
    path = tmp_path / "a.json"
    path.write_bytes(rb'"\ud83d\ude00"')
    assert read_document(path).value == "\U0001f600"


@pytest.mark.parametrize(
    ("data", "found"),
    [(b"[" * 100_000, "too many nested values"), (b"1" * 10_000, "an integer that is too long")],
)
def test_json_that_overwhelms_a_reader_is_a_problem(data: bytes, found: str, tmp_path: Path) -> None:
    """Very deep nesting and endless digits are reported like any other mistake."""
    assert problem_of(data, tmp_path).found == found


def test_every_fault_of_a_file_is_reported_at_once(tmp_path: Path) -> None:
    """Two faults in two places are two problems."""
    path = tmp_path / "a.json"
    path.write_text('{"a": NaN, "b": {"c": 1, "c": 2}}', encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        read_document(path)
    assert [problem.key for problem in caught.value.problems] == ["a", "b.c"]


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_what_cannot_be_opened_is_a_problem(name: str, tmp_path: Path) -> None:
    """A missing file and a folder are reported with their path."""
    with pytest.raises(CatalogError) as caught:
        read_document(tmp_path / name)
    assert caught.value.problems[0].where == str(tmp_path / name)


def test_key_paths_read_as_people_say_them() -> None:
    """Indices stand in brackets, plain keys after dots, odd keys in quotes."""
    assert key_path(("tasks", 3, "id")) == "tasks[3].id"
    assert key_path((0, "a b", "c-d")) == '[0]["a b"].c-d'
    assert key_path(()) == ""
