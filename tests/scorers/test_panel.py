"""The panel gives every attempt at least one row a scorer, and mixes up neither errors nor failures."""

from __future__ import annotations

import asyncio

import pytest
from samples import DONE, task, trials

from skilleval.domain import Evaluator, Reply, Score, Status, Trial, Verdict
from skilleval.scorers.base import Finding, ScorerInfo, ScoringRecord
from skilleval.scorers.exact import ExactOptions, ExactScorer
from skilleval.scorers.panel import Panel
from skilleval.scorers.task import TaskScorer

EXACT = ExactScorer(ExactOptions(case_sensitive=True, strip=True, tolerance=0.0))
TASK = TaskScorer(fallback="exact", scorers={"exact": EXACT})


def scored(panel: Panel, trial: Trial, reply: Reply) -> tuple[Score, ...]:
    """Let a panel score one attempt."""
    return asyncio.run(panel.scores(trial, reply))


class Fixed:
    """A scorer that always says the same number."""

    info = ScorerInfo(kind="fixed", version="7")

    def __init__(self, score: float) -> None:
        self._score = score

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Pass with the number."""
        return (Finding(verdict=Verdict.PASSED, score=self._score, check=record.task_id),)


def test_each_scorer_leaves_a_row_under_its_config_name() -> None:
    """Two scorers of one run are told apart by the name the config gives them."""
    (trial,) = trials()
    rows = scored(Panel({"strict": EXACT, "own": TASK}), trial, DONE)
    assert [(row.scorer, row.rule, row.passed) for row in rows] == [
        ("strict", "exact", True),
        ("own", "exact", True),
    ]
    assert rows[0].scorer_version == "1"


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.SKILL_ERROR])
def test_an_error_of_the_skill_fails_with_score_zero(status: Status) -> None:
    """The skill is to blame, so the trial counts against it."""
    (trial,) = trials()
    (row,) = scored(Panel({"exact": EXACT}), trial, Reply(status=status, message="died"))
    assert (row.verdict, row.score) == (Verdict.FAILED, 0.0)
    assert row.reason == f"{status.value}: died"


@pytest.mark.parametrize("status", [status for status in Status if status.is_infrastructure])
def test_c07_an_outage_is_ungraded(status: Status) -> None:
    """Infrastructure trouble is neither passed nor failed."""
    (trial,) = trials()
    (row,) = scored(Panel({"exact": EXACT}), trial, Reply(status=status, failure_kind="down"))
    assert (row.verdict, row.score, row.passed) == (Verdict.UNGRADED, None, None)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -0.1, 1.01])
def test_es15_a_number_that_is_no_score_is_refused(score: float) -> None:
    """NaN and numbers outside [0, 1] are ungraded with the number named, never bent into a score."""
    (trial,) = trials()
    (row,) = scored(Panel({"fixed": Fixed(score)}), trial, DONE)
    assert row.score is None
    assert str(score) in row.reason


def test_the_task_scorer_uses_the_evaluator_of_the_task() -> None:
    """A kind that is not there leaves the task ungraded and names what is known."""
    (trial,) = trials(task(evaluator=Evaluator(kind="llm_judge")))
    (row,) = scored(Panel({"task": TASK}), trial, DONE)
    assert (row.rule, row.verdict) == ("llm_judge", Verdict.UNGRADED)
    assert "known: exact" in row.reason


def test_output_null_and_no_output_differ() -> None:
    """The output null can be expected; no output never passes."""
    (trial,) = trials(task(value=None))
    panel = Panel({"exact": EXACT})
    (given,) = scored(panel, trial, Reply(status=Status.COMPLETED, output="null"))
    (absent,) = scored(panel, trial, Reply(status=Status.COMPLETED, output=None))
    assert (given.passed, absent.passed) == (True, False)
