"""What a reader must not miss in a row of the summary; each kind has a shape besides its colour."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skilleval.report.columns import number, tally, words
from skilleval.report.document import MatrixCell, Row
from skilleval.report.numbers import counted, rate
from skilleval.report.phrases import all_of, flaky_text
from skilleval.report.standing import Doubt, Standing, doubt, fails_everything, standing

_NO_INTERVAL = "no interval"


class Kind(StrEnum):
    """What is the matter; `fine` where nothing is."""

    FINE = "fine"
    FAILING = "failing"
    FLAKY = "flaky"
    ERRORS = "errors"
    UNKNOWN = "unknown"


SHAPES = {
    Kind.FINE: "✓",
    Kind.FAILING: "✕",
    Kind.FLAKY: "◐",
    Kind.ERRORS: "▲",
    Kind.UNKNOWN: "○",
}


@dataclass(frozen=True, slots=True)
class Flag:
    """One remark on a row."""

    kind: Kind
    text: str

    @property
    def shape(self) -> str:
        """The mark that says the same without colour."""
        return SHAPES[self.kind]


def row_flags(row: Row, threshold: float | None) -> tuple[Flag, ...]:
    """Give the remarks on a row, the gravest first."""
    flags = [*_gate_flags(row, threshold)]
    if tally(row, "n_flaky_tasks"):
        flags.append(Flag(Kind.FLAKY, flaky_text(row)))
    flags += _error_flags(row)
    lost = tally(row, "n_infrastructure") + tally(row, "n_ungraded")
    if lost:
        flags.append(Flag(Kind.UNKNOWN, _lost_text(row, lost)))
    return tuple(flags)


def _gate_flags(row: Row, threshold: float | None) -> list[Flag]:
    if fails_everything(row):
        return [Flag(Kind.FAILING, f"fails {all_of(tally(row, 'n_graded'), 'graded trial')}")]
    if threshold is None:
        return []
    stands = standing(row, threshold)
    if stands is Standing.MISSED:
        return [Flag(Kind.FAILING, f"below {rate(threshold)}")]
    if stands is Standing.OPEN:
        return [Flag(Kind.UNKNOWN, f"inconclusive: {_doubt_text(row, threshold)}")]
    return []


def _doubt_text(row: Row, threshold: float) -> str:
    why = doubt(row, threshold)
    if why is Doubt.LOST:
        return f"trials without a verdict decide about {rate(threshold)}"
    if why is Doubt.WIDE:
        return f"interval holds {rate(threshold)}"
    method = words(row, "ci_method")
    return method if method.startswith(_NO_INTERVAL) else _NO_INTERVAL


def _error_flags(row: Row) -> list[Flag]:
    named = (("n_timeout", "timeout"), ("n_skill_error", "skill error"))
    counts = [(tally(row, key), name) for key, name in named]
    return [Flag(Kind.ERRORS, counted(n, name)) for n, name in counts if n]


def _lost_text(row: Row, lost: int) -> str:
    text = f"{counted(lost, 'trial')} without a verdict"
    low, high = number(row, "completion_low"), number(row, "completion_high")
    if low is None or high is None:
        return text
    return f"{text}: completion lies between {rate(low)} and {rate(high)}"


def cell_kind(cell: MatrixCell) -> Kind:
    """Say how a task went: passed always, never, sometimes, or not graded."""
    if cell.n_graded == 0:
        return Kind.UNKNOWN
    if cell.n_passed == cell.n_graded:
        return Kind.FINE
    return Kind.FAILING if cell.n_passed == 0 else Kind.FLAKY
