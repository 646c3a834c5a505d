"""Why skills did not pass, in a line each: the commonest causes of every row of the summary."""

from __future__ import annotations

from dataclasses import dataclass

from skilleval.report.columns import row_names, words
from skilleval.report.document import Cause, Report
from skilleval.report.numbers import count
from skilleval.report.text import one_line
from skilleval.report.uplift import is_gated

_LENGTH = 160
_WRONG = "failed"


@dataclass(frozen=True, slots=True)
class SkillCause:
    """One cause, with the name of the row it belongs to."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


def skill_causes(report: Report) -> tuple[SkillCause, ...]:
    """Give the causes in the order of the summary; what broke a trial is told once, however many scorers say so.

    Where arms are compared, those of a baseline are left out: what it lacks is what the skill is there for.
    """
    found: dict[tuple[str, str], list[Cause]] = {}
    for cause in report.causes:
        found.setdefault((cause.condition_id, cause.scorer), []).append(cause)
    told: set[tuple[str, str]] = set()
    lines = []
    for name, row in zip(row_names(report.summary), report.summary, strict=True):
        if not is_gated(row, compared=bool(report.uplift)):
            continue
        condition = words(row, "condition_id")
        for cause in found.get((condition, words(row, "scorer")), ()):
            line = cause_line(cause)
            if (condition, line) not in told:
                told.add((condition, line))
                lines.append(SkillCause(name, line))
    return tuple(lines)


def cause_line(cause: Cause) -> str:
    """Write a cause as one safe line: `failure_kind: message (n×)`."""
    kind = "wrong" if cause.kind == _WRONG else cause.kind
    said = f"{kind}: {cause.text}" if cause.text else kind
    return f"{one_line(said, limit=_LENGTH)} ({count(cause.n)}×)"
