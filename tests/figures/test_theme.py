from __future__ import annotations

import altair as alt
from hypothesis import given
from hypothesis import strategies as st

from skilleval.figures.layout import framed
from skilleval.figures.theme import PAPER, SKILL_COLOURS, on_paper, skill_colour, skill_colours, themed


def test_the_colour_of_a_skill_is_known() -> None:
    """A skill keeps its colour from page to page and from release to release."""
    assert [skill_colour(name) for name in ("calculator", "flaky-calculator", "wrong-calculator")] == [
        "#0072B2",
        "#F0E442",
        "#009E73",
    ]


@given(st.text())
def test_every_name_has_a_colour_of_the_palette(name: str) -> None:
    """No name is without a colour, lone surrogates included."""
    assert skill_colour(name) in SKILL_COLOURS


def test_skills_of_one_report_keep_their_colours_and_never_share_one() -> None:
    """The first by name keeps the colour it always has, the other one takes a free one; order is irrelevant."""
    clash = sorted(name for name in map(str, range(20)) if skill_colour(name) == skill_colour("0"))[:3]
    found = skill_colours(clash)
    assert found[clash[0]] == skill_colour("0")
    assert len(set(found.values())) == 3
    assert skill_colours([*reversed(clash), clash[0]]) == found
    assert skill_colours(["calculator"]) == {"calculator": "#0072B2"}


@given(st.lists(st.text(), max_size=12, unique=True))
def test_eight_skills_have_eight_colours(names: list[str]) -> None:
    """Up to eight skills are told apart by colour; beyond them a colour may come again, but none is missing."""
    found = skill_colours(names)
    assert set(found) == set(names)
    assert len({found[name] for name in sorted(names)[:8]}) == min(len(names), 8)


def test_vermilion_is_left_to_failures() -> None:
    """No skill is drawn in the colour that means failed."""
    assert "#D55E00" not in SKILL_COLOURS


def test_the_theme_changes_nothing_global() -> None:
    """A chart of somebody else looks as before."""
    before = alt.theme.active
    chart = themed(alt.LayerChart(layer=[]))
    assert chart.to_dict(validate=False)["config"]["background"] == "transparent"
    assert alt.theme.active == before


def test_paper_changes_the_size_of_a_figure_and_nothing_else() -> None:
    """One column of 3.3 inches with type of 7 to 8 points; the marks and the page are left as they were."""
    page = framed([], height=100)
    paper = on_paper(page).to_dict(validate=False)
    assert (paper["width"], paper["height"]) == (240, 60)
    assert 7 <= PAPER["axis"]["labelFontSize"] <= 8
    assert paper["layer"] == page.to_dict(validate=False)["layer"]
    assert (page.width, page.height) == ("container", 100)
