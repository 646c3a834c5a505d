from __future__ import annotations

import altair as alt
from hypothesis import given
from hypothesis import strategies as st

from skilleval.figures.theme import SKILL_COLOURS, skill_colour, themed


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


def test_vermilion_is_left_to_failures() -> None:
    """No skill is drawn in the colour that means failed."""
    assert "#D55E00" not in SKILL_COLOURS


def test_the_theme_changes_nothing_global() -> None:
    """A chart of somebody else looks as before."""
    before = alt.theme.active
    chart = themed(alt.LayerChart(layer=[]))
    assert chart.to_dict(validate=False)["config"]["background"] == "transparent"
    assert alt.theme.active == before
