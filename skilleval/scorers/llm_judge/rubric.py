"""The form with a rubric: one grade for the whole output, a number on a scale or one of some labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import Any

from skilleval.domain.scores import Verdict
from skilleval.scorers.base import Finding, ScoringRecord
from skilleval.scorers.llm_judge.asking import Answer
from skilleval.scorers.llm_judge.options import LlmJudgeOptions
from skilleval.scorers.llm_judge.reply import Reading, UnusableReplyError, labelled, rating
from skilleval.scorers.llm_judge.votes import Ballot
from skilleval.scorers.values import is_number

CHECK_ID = "rubric"
_LONGEST_CHECK = 200
_AS_EXPECTED = "The output says the same as the expected output, in whatever words."


class UnusableLabelsError(ValueError):
    """The labels of a task mean nothing; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """By what an output is graded; `labels` are empty where the grade is a number on the scale."""

    text: str
    labels: Mapping[str, float]
    scale: tuple[float, float]

    @property
    def check(self) -> str:
        """What is looked at, in short."""
        return " ".join(self.text.split())[:_LONGEST_CHECK]

    @property
    def wanted(self) -> str:
        """Say what grade is wanted."""
        if self.labels:
            return f"Grade the output by the criteria with one of these labels: {', '.join(self.labels)}."
        low, high = self.scale
        return (
            f"Grade the output by the criteria on a scale from {low:g} to {high:g}: "
            f"{low:g} where nothing of them is met, {high:g} where all of them are."
        )

    def read(self, text: str) -> Reading:
        """Read the grade in a reply."""
        try:
            ruling = labelled(text, self.labels) if self.labels else rating(text, self.scale)
        except UnusableReplyError as error:
            return Reading(faults=(str(error),))
        return Reading(rulings={CHECK_ID: ruling})


def rubric_of(record: ScoringRecord, options: LlmJudgeOptions) -> Rubric | None:
    """Give the rubric of a task, else that of the options, else agreement with the value; null without any.

    Raises:
        UnusableLabelsError: the task has labels that cannot be used.
    """
    own = (record.expected.get(key) for key in ("judgePrompt", "criteria"))
    text = next((one for one in own if isinstance(one, str) and one.strip()), options.rubric)
    if not text.strip() and "value" in record.expected:
        text = _AS_EXPECTED
    if not text.strip():
        return None
    return Rubric(text=text, labels=_labels(record.expected.get("labels")), scale=options.scale)


def rubric_finding(answers: Sequence[Answer], min_score: float) -> Finding:
    """Say what all answers come to: the mean; nothing where judges come to opposite verdicts or most are silent."""
    ballot = Ballot.of(CHECK_ID, answers)
    n_for = sum(ruling.score >= min_score for ruling in ballot.rulings)
    if 2 * len(ballot.rulings) <= ballot.n_asked:
        return ballot.silent()
    by_judge = [
        [ruling.score for _, ruling in group] for _, group in groupby(ballot.given, key=lambda one: one[0])
    ]
    if len({fmean(scores) >= min_score for scores in by_judge}) > 1:
        return ballot.torn(n_for)
    score = fmean(ruling.score for ruling in ballot.rulings)
    passed = score >= min_score
    missed = "" if passed else f"{score:.3g} of 1, passes from {min_score:g}"
    told = [missed, ballot.agreement(n_for), ballot.shortfall]
    return Finding(
        verdict=Verdict.PASSED if passed else Verdict.FAILED,
        score=score,
        reason="; ".join(piece for piece in told if piece),
        evidence=next((ruling.evidence for ruling in ballot.rulings if ruling.evidence), ""),
    )


def _labels(given: Any) -> Mapping[str, float]:
    """Give labels with their scores: of a list the first is worth 1 and the last 0, with equal steps between."""
    if given is None:
        return {}
    if isinstance(given, list | tuple) and all(isinstance(label, str) for label in given):
        last = max(len(given) - 1, 1)
        given = (
            {label: 1 - at / last for at, label in enumerate(given)}
            if len(set(given)) == len(given)
            else None
        )
    if not isinstance(given, Mapping) or len(given) < 2:  # noqa: PLR2004 - one label is no choice
        raise UnusableLabelsError(
            "`labels` are at least two different texts, the best first, or texts with scores"
        )
    if not all(label.strip() and is_number(score) and 0 <= score <= 1 for label, score in given.items()):
        raise UnusableLabelsError("each of the `labels` is a text with a score from 0 to 1")
    return {label: float(score) for label, score in given.items()}
