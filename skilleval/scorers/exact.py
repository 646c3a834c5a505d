"""`exact`: the answer equals the expected value, compared as JSON values."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from skilleval.domain.scores import Verdict
from skilleval.scorers.base import MISSING, Finding, ScorerInfo, ScoringRecord, ungraded
from skilleval.scorers.options import with_task_options
from skilleval.scorers.values import normaliser, same_value, shown, unwrapped
from skilleval.strict import StrictModel


class ExactOptions(StrictModel):
    """`conf/scorer/exact.yaml`."""

    case_sensitive: bool
    strip: bool
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ExactScorer:
    """Passes when the output, whole or unwrapped, equals `expected.value`.

    Numbers compare by value within `tolerance` (1 = 1.0, but never `true`), objects and lists deeply, text after
    trimming. The number 5 is not the text "5".
    """

    Options = ExactOptions

    def __init__(self, options: ExactOptions) -> None:
        self._options = options
        self.info = ScorerInfo(kind="exact", version="1", options=options.model_dump())

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give one finding with score 0 or 1."""
        if "value" not in record.expected:
            return (ungraded("nothing to check: the task expects no `value`"),)
        return (self._finding(record),)

    def _finding(self, record: ScoringRecord) -> Finding:
        expected, options = record.expected["value"], with_task_options(record, self.info.kind, self._options)
        if record.output is MISSING:
            return Finding(verdict=Verdict.FAILED, score=0.0, reason="the skill gave no output")
        normalise = normaliser(case_sensitive=options.case_sensitive, strip=options.strip)
        answers = (record.output, unwrapped(record.output))
        if any(same_value(answer, expected, normalise, options.tolerance) for answer in answers):
            return Finding(verdict=Verdict.PASSED, score=1.0)
        reason = f"expected {shown(expected)}, found {shown(answers[1])}"
        return Finding(verdict=Verdict.FAILED, score=0.0, reason=reason)
