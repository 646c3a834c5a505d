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
FRONT = "#8c8c8c"

PASSED_COLOUR, FAILED_COLOUR, BROKEN_COLOUR, UNGRADED_COLOUR = "#BFE6DA", "#D55E00", "#4D4D4D", "#FFFFFF"
"""Outcomes: from light to dark as well as by hue, and each but the first with a mark of its own."""

DIRECT_LABELS = 8
"""Up to so many lines or points are named where they are drawn; more have a legend."""

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_PAPER_FONT = "'Liberation Sans', Arial, Helvetica, sans-serif"  # the first one comes with the renderer

PAPER_WIDTH = 240
"""One column of a paper, 3.3 inches, in points."""
_PAPER_SCALE = 0.6
"""By how much rows and marks are smaller on paper."""


def _theme(*, font: str, size: float, scale: float, label_limit: int, columns: int) -> dict[str, Any]:
    """Give the look of figures; `size` is that of all type, `scale` that of marks."""
    text = {"labelColor": INK, "labelFontSize": size, "titleColor": GREY, "titleFontSize": size}
    text |= {"titleFontWeight": "normal", "labelLimit": label_limit}
    return {
        "background": "transparent",
        "font": font,
        "padding": {"left": 2, "top": 4, "right": 8, "bottom": 2},
        "view": {"stroke": None},
        "axis": {
            **text,
            "domainColor": GREY,
            "gridColor": HAIRLINE,
            "tickColor": GREY,
            **dict.fromkeys(("domainWidth", "gridWidth", "tickWidth"), scale),
            "tickSize": 5 * scale,
        },
        "legend": {
            **text,
            "orient": "top",
            "columns": columns,
            "labelLimit": 280 * scale,
            "symbolSize": 90 * scale,
        },
        "style": {
            "estimate": {"size": 90 * scale, "strokeWidth": 1.2 * scale},
            "interval": {"strokeWidth": max(1.5 * scale, 0.75)},
            "front": {"strokeWidth": max(2 * scale, 1)},
            "curve": {"strokeWidth": max(2.5 * scale, 1)},
            "anchor": {"size": 40 * scale, "strokeWidth": 1.2 * scale},
            "outcome": {"size": 45 * scale, "strokeWidth": 1.2 * scale},
            "label": {"fontSize": size, "fill": INK, "limit": label_limit},
        },
    }


THEME = _theme(font=_FONT, size=12, scale=1, label_limit=200, columns=4)
PAPER = _theme(font=_PAPER_FONT, size=7.5, scale=_PAPER_SCALE, label_limit=96, columns=2)


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


def on_paper(chart: alt.LayerChart) -> alt.LayerChart:
    """Give a figure the width and the type of one column of a paper; data, marks and colours stay."""
    drawn: alt.LayerChart = chart.configure(**PAPER).properties(
        width=PAPER_WIDTH, height=round(float(chart.height) * _PAPER_SCALE)
    )
    return drawn
