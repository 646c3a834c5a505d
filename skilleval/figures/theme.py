"""One look for all figures: the palette, and a quiet theme that also prints.

Colours of skills come from the palette of Okabe and Ito (2008), which readers with any colour vision can tell
apart. Its vermilion is left out because red means "failed" here, its black because ink is black; indigo and grey fill
their places where skills of one report would share a colour. Every mark also has an outline in ink, so none depends on
its colour to be seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

SKILL_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442")
_SPARE_COLOURS = ("#332288", "#999999")

INK = "#1a1a1a"
GREY = "#6b6b6b"
HAIRLINE = "#dcdcdc"

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

THEME: dict[str, Any] = {
    "background": "transparent",
    "font": _FONT,
    "padding": {"left": 2, "top": 4, "right": 8, "bottom": 2},
    "view": {"stroke": None},
    "axis": {
        "domainColor": GREY,
        "gridColor": HAIRLINE,
        "labelColor": INK,
        "labelFontSize": 12,
        "tickColor": GREY,
        "titleColor": GREY,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {
        "labelColor": INK,
        "labelFontSize": 12,
        "orient": "top",
        "titleColor": GREY,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
}


def skill_colour(name: str) -> str:
    """Give the colour a skill would have for itself: the same in every figure, page and run."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return SKILL_COLOURS[digest[0] % len(SKILL_COLOURS)]


def skill_colours(names: Iterable[str]) -> dict[str, str]:
    """Give the colours of the skills of one report; the first eight by name never share one.

    A skill keeps its own colour unless one that comes before it by name has the same; then it takes a free one.
    """
    ordered = sorted(set(names))
    palette = (*SKILL_COLOURS, *_SPARE_COLOURS)
    colours: dict[str, str] = {}
    crowded = []
    for name in ordered[: len(palette)]:
        own = skill_colour(name)
        if own in colours.values():
            crowded.append(name)
        else:
            colours[name] = own
    free = [colour for colour in palette if colour not in colours.values()]
    colours |= dict(zip(crowded, free, strict=False))
    return colours | {name: skill_colour(name) for name in ordered[len(palette) :]}


def themed(chart: alt.LayerChart) -> alt.LayerChart:
    """Give the chart the look of this package; nothing global is changed."""
    drawn: alt.LayerChart = chart.configure(**THEME)
    return drawn
