"""How far the scorers of a run agree: from the frames of analytics to the part of a report; no coefficient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from skilleval.report.agreement import Agreement, Calibration, DisputedTask, Overall, RaterCount, RaterPair
from skilleval.report.manifest import plain

if TYPE_CHECKING:
    import polars as pl

MAX_TASKS = 200
_Part = TypeVar("_Part", RaterPair, Overall, Calibration, RaterCount, DisputedTask)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementFrames:
    """The frames of analytics that an `Agreement` is made of; those of people may be empty."""

    pairs: pl.DataFrame
    intervals: pl.DataFrame
    overall: pl.DataFrame
    rankings: pl.DataFrame
    calibration: pl.DataFrame
    disputed: pl.DataFrame
    counts: pl.DataFrame
    people: pl.DataFrame
    people_intervals: pl.DataFrame
    people_overall: pl.DataFrame


def agreement_part(
    frames: AgreementFrames, *, raters: tuple[str, ...], n_trials: int, n_left_out: int
) -> Agreement:
    """Put the part of a report together: choosing and joining; no coefficient."""
    counts: dict[str, list[RaterCount]] = {}
    for row in _rows(frames.counts):
        counts.setdefault(row["task_id"], []).append(_made(RaterCount, row))
    disputed = [
        _made(DisputedTask, row | {"counts": tuple(counts.get(row["task_id"], ()))})
        for row in _rows(frames.disputed.head(MAX_TASKS))
    ]
    return Agreement(
        raters=raters,
        n_trials=n_trials,
        n_left_out=n_left_out,
        pairs=_pairs(frames.pairs, frames.intervals, frames.rankings),
        overall=tuple(_made(Overall, row) for row in _rows(frames.overall)),
        calibration=tuple(_made(Calibration, row) for row in _rows(frames.calibration)),
        tasks=tuple(disputed),
        n_disputed=frames.disputed.height,
        people=_pairs(frames.people, frames.people_intervals),
        people_overall=tuple(_made(Overall, row) for row in _rows(frames.people_overall)),
    )


def _pairs(*frames: pl.DataFrame) -> tuple[RaterPair, ...]:
    """Join what several frames say of the same pairs; the first one names them."""
    first, *more = frames
    found = {(row["rater_a"], row["rater_b"]): row for row in _rows(first)}
    for frame in more:
        for row in _rows(frame):
            if (row["rater_a"], row["rater_b"]) in found:
                found[row["rater_a"], row["rater_b"]] |= row
    return tuple(_made(RaterPair, row) for row in found.values())


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return [plain(row) for row in frame.to_dicts()]


def _made(kind: type[_Part], row: Mapping[str, Any]) -> _Part:
    """Make a part of the columns that it knows."""
    names = {field.name for field in fields(kind)}
    return kind(**{name: value for name, value in row.items() if name in names})
