from __future__ import annotations

import pytest
from samples import skill

from skilleval.catalog.find import ranked, with_tags
from skilleval.domain.skills import Skill

CATALOG = (
    skill("converter", name="Unit converter", description="Converts lengths and weights", tags=("units",)),
    skill("calculator", name="Calculator", description="Works out arithmetic", tags=("math", "Units")),
    skill("reverser", name="Reverser", description="Reverses a text and counts its units", tags=("text",)),
    skill("charts", name="海图查询", description="Looks up a nautical chart", tags=("maps",)),
)


def found(query: str, catalog: tuple[Skill, ...] = CATALOG) -> list[str]:
    """Give the ids that a query finds, in their order."""
    return [hit.skill.id for hit in ranked(catalog, query)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("calculator", "calculator"),
        ("CALCULATOR", "calculator"),
        ("calculater", "calculator"),
        ("conversion of weights", "converter"),
        ("arithmetic", "calculator"),
        ("nautical", "charts"),
        ("海图", "charts"),
        ("maps", "charts"),
    ],
)
def test_the_skill_that_is_meant_comes_first(query: str, first: str) -> None:
    """By name, description or tag, in any case, misspelt or in another form of the word."""
    assert found(query)[0] == first


def test_the_name_counts_more_than_the_description_and_that_more_than_a_tag() -> None:
    """The same word in a better place ranks higher."""
    assert found("units") == ["converter", "reverser", "calculator"]
    relevances = [hit.relevance for hit in ranked(CATALOG, "units")]
    assert relevances == sorted(relevances, reverse=True)
    assert 0 < relevances[-1] < relevances[0] <= 1


@pytest.mark.parametrize("query", ["zebra", "xyz", "", "?!"])
def test_what_fits_nothing_finds_nothing(query: str) -> None:
    """There are no hits for the sake of having hits."""
    assert found(query) == []


def test_a_rare_word_decides_over_one_that_everybody_has() -> None:
    """`a` is in many descriptions and carries nothing."""
    assert found("a calculator")[0] == "calculator"
    assert found("a nautical") == ["charts"]


def test_equal_hits_are_ordered_by_name_whatever_the_order_of_the_folder() -> None:
    """The order of a listing never depends on the file system."""
    twins = (skill("b", name="Beta echo"), skill("a", name="Alpha echo"))
    assert found("echo", twins) == found("echo", twins[::-1]) == ["a", "b"]


def test_all_tags_are_needed_and_case_does_not_matter() -> None:
    """--tag narrows down."""
    assert [one.id for one in with_tags(CATALOG, ["UNITS"])] == ["converter", "calculator"]
    assert [one.id for one in with_tags(CATALOG, ["units", "Math"])] == ["calculator"]
    assert with_tags(CATALOG, []) == CATALOG
