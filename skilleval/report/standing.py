"""Where a row of the summary stands against the gate: what was observed, and whether that proves anything."""

from __future__ import annotations

from enum import StrEnum

from skilleval.report.columns import number, tally
from skilleval.report.document import Row

_TOLERANCE = 1e-9  # a rate is a quotient of sums: the verdict must not hang on their order


class Standing(StrEnum):
    """Where a row stands against the gate."""

    REACHED = "reached"
    MISSED = "missed"
    OPEN = "open"
    UNGRADED = "ungraded"


class Doubt(StrEnum):
    """Why a rate says nothing certain: trials without a verdict, no interval at all, or too wide a one."""

    LOST = "lost"
    NO_INTERVAL = "no interval"
    WIDE = "wide"


def standing(row: Row, threshold: float) -> Standing:
    """Compare a row with the gate: reached or missed only where nothing is left to doubt.

    A skill that passed nothing has missed, however few its trials are.
    """
    completion = number(row, "completion_rate")
    if completion is None or row.get("n_graded") == 0:
        return Standing.UNGRADED
    if fails_everything(row) and not _meets(0, threshold):
        return Standing.MISSED
    if doubt(row, threshold) is not None:
        return Standing.OPEN
    return Standing.REACHED if _meets(completion, threshold) else Standing.MISSED


def doubt(row: Row, threshold: float) -> Doubt | None:
    """Say what keeps a graded row from being told apart from the gate; null where nothing does."""
    worst, best = number(row, "completion_low"), number(row, "completion_high")
    if worst is not None and best is not None and _holds(worst, best, threshold):
        return Doubt.LOST
    low, high = number(row, "ci_low"), number(row, "ci_high")
    if low is None or high is None:
        return Doubt.NO_INTERVAL
    return Doubt.WIDE if _holds(low, high, threshold) else None


def meets(row: Row, threshold: float) -> bool:
    """Say whether the rate as observed meets the gate; a rate that is not known does not."""
    completion = number(row, "completion_rate")
    return completion is not None and _meets(completion, threshold)


def gate_rate(row: Row) -> float | None:
    """Give the completion by which a gate decides: a trial that completed and could not be judged has not passed.

    A benchmark that nobody can judge must not open a gate. What the infrastructure spoiled stays out: it has an exit
    code of its own.
    """
    completion, n_ungraded = number(row, "completion_rate"), tally(row, "n_ungraded")
    if completion is None or not n_ungraded:
        return completion
    # A preset may count such trials already.
    return min(completion, tally(row, "n_passed") / (tally(row, "n_graded") + n_ungraded))


def passes_gate(row: Row, threshold: float) -> bool:
    """Say whether a gate that decides the exit code lets a row pass."""
    decisive = gate_rate(row)
    return decisive is not None and _meets(decisive, threshold)


def fails_everything(row: Row) -> bool:
    """Say whether trials were graded and none of them passed."""
    return tally(row, "n_graded") > 0 and tally(row, "n_passed") == 0


def passes_everything(row: Row) -> bool:
    """Say whether every trial passed, none of them lost."""
    n = tally(row, "n_trials")
    return n > 0 and tally(row, "n_passed") == tally(row, "n_graded") == n


def _meets(value: float, threshold: float) -> bool:
    return value >= threshold - _TOLERANCE


def _holds(low: float, high: float, threshold: float) -> bool:
    return not _meets(low, threshold) and _meets(high, threshold)
