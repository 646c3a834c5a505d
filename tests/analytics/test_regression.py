"""Which conditions of two runs belong together."""

from __future__ import annotations

from typing import Any

import polars as pl

from skilleval.analytics.regression import MATCHED_BY, MAY_DIFFER, condition_pairs

ROW: dict[str, Any] = {
    **dict.fromkeys((*MATCHED_BY, *MAY_DIFFER), "x"),
    "model": None,
    "skill_version": "1.0.0",
    "skill_digest": "a",
    "benchmark_version": "1",
    "condition_id": "c",
}


def compared(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pair literal rows."""
    schema = pl.DataFrame([ROW | {"model": "m"}]).schema
    frames = [pl.LazyFrame(rows, schema=schema) for rows in (before, after)]
    return condition_pairs(*frames).collect().to_dicts()


def test_a_run_compared_with_itself_pairs_every_row() -> None:
    """Every row is on both sides, and pairs are numbered."""
    rows = [ROW, ROW | {"skill_id": "y"}]
    assert [(row["pair"], row["skill_id"], row["side"]) for row in compared(rows, rows)] == [
        (0, "x", "both"),
        (1, "y", "both"),
    ]


def test_new_and_removed_rows_are_kept() -> None:
    """What one side lacks is said."""
    rows = compared([ROW | {"skill_id": "old"}], [ROW | {"skill_id": "young"}])
    assert [(row["skill_id"], row["side"]) for row in rows] == [("old", "removed"), ("young", "new")]


def test_another_benchmark_is_never_compared() -> None:
    """Rows of different benchmarks are no pair."""
    rows = compared([ROW], [ROW | {"benchmark_id": "other"}])
    assert sorted(row["side"] for row in rows) == ["new", "removed"]


def pairs(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Give version and content of both sides of each compared row."""
    names = (
        "skill_version_before",
        "skill_digest_before",
        "skill_version_after",
        "skill_digest_after",
        "side",
    )
    return [tuple(row[name] for name in names) for row in compared(before, after)]


def of(version: str, digest: str) -> dict[str, Any]:
    """Give a row of a version and content."""
    return ROW | {"skill_version": version, "skill_digest": digest}


def test_each_version_is_compared_with_itself() -> None:
    """Two versions of a skill in each run are two pairs, not four."""
    rows = [of("1.0.0", "a"), of("2.0.0", "b")]
    assert pairs(rows, rows[::-1]) == [
        ("1.0.0", "a", "1.0.0", "a", "both"),
        ("2.0.0", "b", "2.0.0", "b", "both"),
    ]


def test_a_version_without_its_like_is_new_or_removed_beside_others() -> None:
    """Versions are compared across only where neither side has a choice."""
    before, after = [of("1.0.0", "a"), of("2.0.0", "b")], [of("1.0.0", "c"), of("3.0.0", "d")]
    assert pairs(before, after) == [
        ("1.0.0", "a", "1.0.0", "c", "both"),
        ("2.0.0", "b", None, None, "removed"),
        (None, None, "3.0.0", "d", "new"),
    ]
    assert pairs([of("1.0.0", "a")], [of("2.0.0", "b")]) == [("1.0.0", "a", "2.0.0", "b", "both")]


def test_several_contents_of_one_version_are_told_apart() -> None:
    """Equal contents are a pair; of different ones nobody knows which became which."""
    before = [of("1.0.0", "a"), of("1.0.0", "b")]
    assert pairs(before, [of("1.0.0", "a"), of("1.0.0", "c")]) == [
        ("1.0.0", "a", "1.0.0", "a", "both"),
        ("1.0.0", "b", None, None, "removed"),
        (None, None, "1.0.0", "c", "new"),
    ]


def test_rows_are_never_multiplied() -> None:
    """Every row of either side stands in one compared row, also where nothing tells rows apart."""
    twins = [ROW, ROW | {"condition_id": "d"}]
    assert sorted(row["side"] for row in compared(twins, twins)) == ["new", "new", "removed", "removed"]


def test_a_version_finds_itself_on_another_version_of_the_benchmark() -> None:
    """Benchmark versions count last: what changed there is warned of elsewhere."""
    before = [of("1.0.0", "a"), of("2.0.0", "b")]
    after = [row | {"benchmark_version": "2"} for row in before]
    assert [row["side"] for row in compared(before, after)] == ["both", "both"]
