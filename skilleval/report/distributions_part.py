"""How what trials took is distributed: from the frames of analytics to the part of a report; no formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skilleval.report.columns import number, tally, words
from skilleval.report.distributions import Distribution, FrontPoint
from skilleval.report.manifest import plain

if TYPE_CHECKING:
    import polars as pl

_DIGITS = 9
"""Places of a share: 1/3 needs no sixteen of them to be drawn."""
_SEVERAL = 2


def distributions_part(frame: pl.DataFrame) -> tuple[Distribution, ...]:
    """Put the distributions of a report together; a value that occurs often is told once, with its largest share."""
    return tuple(
        Distribution(
            condition_id=words(row, "condition_id"),
            measure=words(row, "measure"),
            unit=words(row, "unit"),
            n=tally(row, "n"),
            n_censored=tally(row, "n_censored"),
            mean=number(row, "mean"),
            shares=tuple(largest.values()),
            values=tuple(largest),
        )
        for row in map(plain, frame.to_dicts())
        for largest in [_largest_shares(row["values"], row["shares"])]
    )


def _largest_shares(values: list[float], shares: list[float]) -> dict[float, float]:
    return {value: round(share, _DIGITS) for value, share in zip(values, shares, strict=True)}


def fronts_part(frame: pl.DataFrame) -> tuple[FrontPoint, ...]:
    """Put the front of a report together; of a single condition there is none."""
    rows = [plain(row) for row in frame.to_dicts()]
    if len({row["condition_id"] for row in rows}) < _SEVERAL:
        return ()
    return tuple(
        FrontPoint(
            condition_id=words(row, "condition_id"),
            scorer=words(row, "scorer"),
            measure=words(row, "measure"),
            value=float(row["value"]),
            is_on_front=bool(row["is_on_front"]),
            dominated_by=tuple(row["dominated_by"]),
        )
        for row in rows
    )
