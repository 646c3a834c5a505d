from __future__ import annotations

import pytest

from skilleval.config.trees import at, covers, leaves, merged, placed, siblings, without

_TREE = {"a": {"b": 1, "c": {}}, "d": [1]}


def test_leaves_are_values_lists_and_empty_mappings() -> None:
    """Everything without something below it is a leaf, under its dotted key."""
    assert list(leaves(_TREE)) == [("a.b", 1), ("a.c", {}), ("d", [1])]


def test_a_value_is_found_by_its_dotted_key() -> None:
    """A key leads down; where it leads nowhere the default is given."""
    assert at(_TREE, "a.b") == 1
    assert at(_TREE, "a.x") is None
    assert at(_TREE, "d.x", "none") == "none"


def test_a_value_is_placed_under_its_dotted_key() -> None:
    """Placing and finding are inverse; the empty key is the root."""
    assert placed("a.b", 1) == {"a": {"b": 1}}
    assert placed("", {"a": 1}) == {"a": 1}


def test_trees_are_merged_key_by_key() -> None:
    """What stands above wins where both say something; lists and values are replaced, nothing is changed in place."""
    above = {"a": {"b": 2}, "d": {"e": 1}}
    assert merged(_TREE, above) == {"a": {"b": 2, "c": {}}, "d": {"e": 1}}
    assert merged({"a": {"b": 1}}, {"a": None}) == {"a": None}
    assert _TREE == {"a": {"b": 1, "c": {}}, "d": [1]}


@pytest.mark.parametrize(
    ("key", "left"),
    [
        ("a", {"d": [1]}),
        ("a.b", {"a": {"c": {}}, "d": [1]}),
        ("x.y", _TREE),
        ("d.x", _TREE),
        ("a.b.x", _TREE),
    ],
)
def test_a_subtree_is_left_out(key: str, left: dict[str, object]) -> None:
    """What stands at the key is gone from the copy, and nothing else."""
    assert without(_TREE, key) == left


@pytest.mark.parametrize(
    ("key", "found"), [("a.x", ("x", ["b", "c"])), ("x.b", ("x", ["a", "d"])), ("a.b.z", ("z", []))]
)
def test_the_first_wrong_word_has_its_neighbours(key: str, found: tuple[str, list[str]]) -> None:
    """A wrong key is told by its first word that is not there, with the names that are."""
    assert siblings(_TREE, key) == found


def test_a_key_covers_itself_and_what_is_below() -> None:
    """Names that merely begin alike are different keys."""
    assert covers("a", "a")
    assert covers("a", "a.b")
    assert not covers("a", "ab")
