"""One line of the performance table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was measured, beside its floor in the same run; `ratio` is value over floor."""

    what: str
    value: str
    floor: str
    ratio: float
    goal: str
    met: bool
