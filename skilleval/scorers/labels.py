"""`labels`: people have judged the attempts; what they said stands in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from skilleval.domain.hashes import content_hash
from skilleval.domain.scores import RATER_CHECK, Verdict
from skilleval.scorers.base import Finding, ScorerInfo, ScoringRecord, ungraded
from skilleval.strict import StrictModel


class LabelsOptions(StrictModel):
    """Where the labels are, and when a score is a pass."""

    path: Annotated[str, Field(min_length=1)]
    pass_at: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What one person said of one attempt; `rater` is empty where the file names nobody."""

    trial_id: str
    task_id: str
    passed: bool
    score: float
    rater: str = ""


class LabelsScorer:
    """Gives the majority of the people that labelled an attempt, and beside it what each of several said.

    A tie, and an attempt without a label, are ungraded. It is made without labels: the composition root, which knows
    the trials, reads the file and gives them to `holding`.
    """

    Options = LabelsOptions
    places = ("path",)

    def __init__(self, options: LabelsOptions, labels: Sequence[Label] = ()) -> None:
        self.options = options
        self.info = ScorerInfo(kind="labels", version="1", options=options.model_dump())
        self._by_trial: dict[str, list[Label]] = {}
        self._by_task: dict[str, list[Label]] = {}
        for label in labels:
            self._by_trial.setdefault(label.trial_id, []).append(label)
            self._by_task.setdefault(label.task_id, []).append(label)

    def holding(self, labels: Sequence[Label]) -> LabelsScorer:
        """Give the same scorer with labels."""
        return LabelsScorer(self.options, labels)

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give the verdict of the majority, then one optional finding a person where there are several."""
        labels = self._by_trial.get(record.trial_id, [])
        if not labels:
            return (ungraded("nobody labelled this attempt"),)
        several = labels if len(labels) > 1 else []
        return (_majority(labels), *map(_of_person, several))

    def fingerprint(self, record: ScoringRecord) -> str:
        """Give a digest of all labels of the task: with others, its scores are not taken over."""
        labels = self._by_task.get(record.task_id, [])
        said = sorted((one.trial_id, one.rater, one.passed, one.score) for one in labels)
        return content_hash(record.task_id, said)


def _majority(labels: Sequence[Label]) -> Finding:
    n, n_passed = len(labels), sum(label.passed for label in labels)
    said = f"passed by {n_passed} of {n}"
    if 2 * n_passed == n:
        return ungraded(f"{said}: no majority")
    return Finding(
        verdict=Verdict.PASSED if 2 * n_passed > n else Verdict.FAILED,
        score=sum(label.score for label in labels) / n,
        reason=said,
        check="label",
    )


def _of_person(label: Label) -> Finding:
    """Keep what one person said beside the majority; it decides nothing and weighs nothing."""
    return Finding(
        verdict=Verdict.PASSED if label.passed else Verdict.FAILED,
        score=label.score,
        reason=f"said {label.rater}",
        check_id=f"{RATER_CHECK}{label.rater}",
        check=f"label by {label.rater}",
        weight=0.0,
        required=False,
    )
