"""Where the names of points go: beside, above or below, so that they cover neither each other nor a mark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skilleval.figures.amounts import is_wide

# Of the narrowest page or paper column, in pixels of the page: what fits there fits everywhere.
_WIDTH, _HEIGHT = 280.0, 240.0
_LETTER = 6.8  # how wide a letter of a name is, as a mean
_LINE, _GAP, _CORNER, _MARK, _STROKE = 14.0, 9.0, 5.0, 7.0, 1.0
_SIDES: dict[str, tuple[int, int]] = {
    "right": (1, 0),
    "left": (-1, 0),
    "upper right": (1, -1),
    "lower right": (1, 1),
    "upper left": (-1, -1),
    "lower left": (-1, 1),
    "above": (0, -1),
    "below": (0, 1),
    "far above": (0, -2),
    "far upper right": (1, -2),
    "far lower right": (1, 2),
    "far upper left": (-1, -2),
    "far lower left": (-1, 2),
    "far below": (0, 2),
}
"""The sides in the order of preference, and where a name on them lies: across, and down in lines."""
SIDES = tuple(_SIDES)

Line = tuple[tuple[float, float], tuple[float, float]]
"""An upright or a level line between two places (amount, share)."""

_Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A point with a name, and the ends of its intervals, null where there are none."""

    name: str
    amount: float
    share: float
    amounts: tuple[float | None, float | None] = (None, None)
    shares: tuple[float | None, float | None] = (None, None)


def text_offset(side: str) -> dict[str, Any]:
    """Say how a text has to be aligned and moved to stand on a side of its point."""
    (across, towards), (dx, dy) = _towards(side), _moved(side)
    return {
        "align": {1: "left", -1: "right", 0: "center"}[across],
        "baseline": {1: "top", -1: "bottom", 0: "middle"}[towards],
        "dx": round(dx),
        "dy": round(dy),
    }


def _towards(side: str) -> tuple[int, int]:
    """Give the direction of a side, across and down."""
    across, down = _SIDES[side]
    return across, (down > 0) - (down < 0)


def _moved(side: str) -> tuple[float, float]:
    """Give how far a name on a side is from the centre of its point; on a far side a line further."""
    across, towards = _towards(side)
    gap = _GAP if not (across and towards) else _CORNER
    further = _LINE * (abs(_SIDES[side][1]) - 1) if towards else 0.0
    return across * gap, towards * (gap + further)


def name_places(
    marks: Sequence[Mark], lines: Sequence[Line] = (), *, sides: Sequence[str] = SIDES
) -> list[str]:
    """Choose the side of each mark on which its name stands; one that fits nowhere covers as little as it can.

    Names are placed in the order of the marks, and keep off the lines.
    """
    amounts = [mark.amount for mark in marks] + [amount for line in lines for amount, _ in line]
    place = _placing(amounts)
    taken = [box for mark in marks for box in _ink(mark, place)]
    taken += [_line_box(place(*start), place(*end)) for start, end in lines]
    chosen = []
    for mark in marks:
        centre = place(mark.amount, mark.share)
        boxes = {side: _box(centre, side, len(mark.name) * _LETTER) for side in sides}
        costs = {side: _covered(box, taken) + _outside(box) for side, box in boxes.items()}
        best = min(costs, key=costs.__getitem__)
        taken.append(boxes[best])
        chosen.append(best)
    return chosen


@dataclass(frozen=True, slots=True)
class _Placing:
    """Where amounts and shares are in the figure, in pixels."""

    low: float
    high: float
    is_log: bool

    def __call__(self, amount: float, share: float) -> tuple[float, float]:
        low, high, at = (math.log(x) if self.is_log else x for x in (self.low, self.high, amount or self.low))
        return (at - low) / ((high - low) or 1.0) * _WIDTH, (1 - share) * _HEIGHT


def _placing(amounts: Sequence[float]) -> _Placing:
    """Take the axis that the amounts are drawn on."""
    low, high = min(amounts, default=0.0), max(amounts, default=0.0)
    is_log = is_wide(amounts)
    return _Placing(low if is_log else min(low, 0.0), high, is_log)


def _ink(mark: Mark, place: _Placing) -> list[_Box]:
    """Give the boxes that a point and its two lines fill."""
    x, y = place(mark.amount, mark.share)
    boxes = [(x - _MARK, y - _MARK, x + _MARK, y + _MARK)]
    low, high = mark.shares
    if low is not None and high is not None:
        boxes.append(_line_box(place(mark.amount, low), place(mark.amount, high)))
    low, high = mark.amounts
    if low is not None and high is not None:
        boxes.append(_line_box(place(low, mark.share), place(high, mark.share)))
    return boxes


def _line_box(start: tuple[float, float], end: tuple[float, float]) -> _Box:
    (x, y), (other_x, other_y) = start, end
    return (
        min(x, other_x) - _STROKE,
        min(y, other_y) - _STROKE,
        max(x, other_x) + _STROKE,
        max(y, other_y) + _STROKE,
    )


def _box(centre: tuple[float, float], side: str, width: float) -> _Box:
    (across, towards), (dx, dy) = _towards(side), _moved(side)
    x, y = centre[0] + dx, centre[1] + dy
    left = {1: x, -1: x - width, 0: x - width / 2}[across]
    top = {1: y, -1: y - _LINE, 0: y - _LINE / 2}[towards]
    return left, top, left + width, top + _LINE


def _covered(box: _Box, taken: Sequence[_Box]) -> float:
    """Give the area of a box that others have taken already."""
    return sum(
        max(0.0, min(box[2], other[2]) - max(box[0], other[0]))
        * max(0.0, min(box[3], other[3]) - max(box[1], other[1]))
        for other in taken
    )


def _outside(box: _Box) -> float:
    """Give the area of a box that is beyond the sides of the figure; a name may stand above it, not below."""
    beyond = max(0.0, -box[0]) + max(0.0, box[2] - _WIDTH)
    below = max(0.0, box[3] - _HEIGHT) + max(0.0, -2 * _LINE - _GAP - box[1])
    return beyond * (box[3] - box[1]) + below * (box[2] - box[0])
