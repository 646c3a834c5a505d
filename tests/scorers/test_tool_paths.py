"""Paths into arguments: dots, numbers and quoted keys, and only what a value has itself."""

from __future__ import annotations

from typing import Any

import pytest

from skilleval.scorers.base import MISSING
from skilleval.scorers.tool_paths import UnusablePathError, read_path, value_at

ARGUMENTS = {
    "a": {"b": [{"c": 1}, None], "d.e": 2, "": 3},
    "f.g": {"h": 4},
    "list": ["x", "y"],
    "n": {"0": "zero"},
    "null": None,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b[0].c", 1),
        ("a.b[1]", None),
        ('a["d.e"]', 2),
        ("a['d.e']", 2),
        ('a[""]', 3),
        ('["f.g"].h', 4),
        ('["f.g"]["h"]', 4),
        ("list[1]", "y"),
        ("list.1", "y"),
        ("n[0]", "zero"),
        ("null", None),
    ],
)
def test_a_path_leads_to_its_value(path: str, value: Any) -> None:
    """Names follow dots, items stand in brackets, keys with dots in quotes; null is a value."""
    assert value_at(ARGUMENTS, read_path(path)) == value


@pytest.mark.parametrize(
    "path",
    [
        "x",
        "a.x",
        "list[2]",
        "list.length",
        "list.-1",
        "list.01",
        "a.__class__",
        "null.x",
        "list[99999999999]",
    ],
)
def test_a_place_that_is_not_there_is_missing(path: str) -> None:
    """Lengths, negative numbers and attributes are nothing that a value has itself."""
    assert value_at(ARGUMENTS, read_path(path)) is MISSING


@pytest.mark.parametrize(
    "path", ["", ".a", "a.", "a..b", "a[", "a[x]", "a[-1]", "a[0", 'a["b]', "a]b", None, 3]
)
def test_a_path_that_cannot_be_read_is_refused(path: Any) -> None:
    """The message shows the path."""
    with pytest.raises(UnusablePathError, match="path"):
        read_path(path)
