from __future__ import annotations

from pathlib import Path

import pytest

from skilleval.catalog.yaml_text import read_yaml, written_yaml
from skilleval.errors import CatalogError


def _problem(path: Path, text: bytes) -> str:
    path.write_bytes(text)
    with pytest.raises(CatalogError) as caught:
        read_yaml(path)
    (problem,) = caught.value.problems
    assert problem.where == str(path)
    return str(problem).removeprefix(f"{path}: ")


def test_plain_words_are_what_yaml_1_2_says(tmp_path: Path) -> None:
    """Dates, times, `no` and `on` are texts, 010 is ten, and a code written as a number is a text as a key."""
    path = tmp_path / "a.yaml"
    path.write_text("200: no\na: [on, 2024-01-31, 12:30, 010, -1.5e2, ~, true, 0x1F, 'x', .5]\nb:\n")
    assert read_yaml(path) == {
        "200": "no",
        "a": ["on", "2024-01-31", "12:30", 10, -150.0, None, True, "0x1F", "x", 0.5],
        "b": None,
    }


def test_aliases_and_merges_repeat_what_they_name(tmp_path: Path) -> None:
    """What is repeated is a value of its own, and own keys win over merged ones."""
    path = tmp_path / "a.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\n")
    value = read_yaml(path)
    assert value == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 2}, "c": {"x": 1, "y": 3}}
    assert value["a"] is not value["b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a: 1\na: 2\n", "line 2, column 1: expected YAML, found the key a again"),
        (b"a: [1\n", "line 2, column 1: expected YAML, found did not find expected ',' or ']'"),
        (b"a: &a [*a]\n", "expected YAML of reasonable depth, found values that are nested too deeply"),
        (b"a: {1.5: x}\n", "a: expected keys that are texts, found 1.5"),
        (b"a: [!!binary aGk=]\n", "a[0]: expected a value that JSON has, found b'hi'"),
        (b"? [a, b]\n: 1\n", "line 1, column 3: expected YAML, found found unhashable key"),
        (b"a: !!python/name:os.system x\n", "line 1, column 4: expected YAML, found could not determine"),
    ],
)
def test_what_is_no_json_value_is_refused_with_its_place(tmp_path: Path, text: bytes, expected: str) -> None:
    """Nothing is guessed: not a key that comes twice, not a value that JSON has not, not a circle."""
    assert _problem(tmp_path / "a.yaml", text).startswith(expected)


def test_bytes_that_are_no_utf_8_are_refused(tmp_path: Path) -> None:
    """A file in another encoding is told, and so is one that is not there."""
    assert "YAML in UTF-8" in _problem(tmp_path / "a.yaml", b"a: \xff\xfe\xfa\n")
    with pytest.raises(CatalogError, match="a file that can be read"):
        read_yaml(tmp_path / "none.yaml")


def test_a_few_aliases_cannot_stand_for_more_than_memory_holds(tmp_path: Path) -> None:
    """A document that doubles with each line ends with an error, not with the machine."""
    lines = ["a0: &a0 [1, 1]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))]
    path = tmp_path / "a.yaml"
    assert "a document of reasonably many values" in _problem(path, "\n".join(lines).encode())


def test_scalars_can_be_kept_as_they_are_written() -> None:
    """Numbers, truth values and dates are texts, nulls are nulls, and keys that come twice are named by line."""
    read = written_yaml("a: 1.10\nb: [on, true, 2024-01-31]\nc: ~\na: 0x1F\n", where="x", first_line=2)
    assert read.value == {"a": "0x1F", "b": ["on", "true", "2024-01-31"], "c": None}
    assert read.repeated == (("a", 5),)


def test_a_piece_of_yaml_is_placed_in_its_file() -> None:
    """Lines count from where the piece begins, and forbidden characters are refused."""
    with pytest.raises(CatalogError) as caught:
        written_yaml("a: b: c", where="x", first_line=2)
    assert caught.value.problems[0].key == "line 2, column 5"
    with pytest.raises(CatalogError, match="control characters are not allowed"):
        written_yaml("a: \0", where="x", first_line=2)
