"""The panel gives every attempt at least one row a scorer, and mixes up neither errors nor failures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from samples import DONE, task, trials

from skilleval.domain.attempts import Reply, Status
from skilleval.domain.scores import Judgement, Score, Verdict
from skilleval.domain.tasks import Evaluator, Task
from skilleval.domain.trials import Trial
from skilleval.scorers.base import Finding, ScorerInfo, ScoringRecord
from skilleval.scorers.exact import ExactOptions, ExactScorer
from skilleval.scorers.panel import Panel
from skilleval.scorers.task import TaskScorer

EXACT = ExactScorer(ExactOptions(case_sensitive=True, strip=True, tolerance=0.0))
TASK = TaskScorer(fallback="exact", scorers={"exact": EXACT})


def scored(panel: Panel, trial: Trial, reply: Reply, known: Sequence[Score] = ()) -> tuple[Score, ...]:
    """Let a panel score one attempt."""
    return asyncio.run(panel.hearing(trial, reply).scores(known))


class Fixed:
    """A scorer that always says the same number, and counts how often it was asked."""

    def __init__(self, score: float, *, version: str = "7", **options: float) -> None:
        self.info = ScorerInfo(kind="fixed", version=version, options=options)
        self.asked = 0
        self._score = score

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Pass with the number."""
        self.asked += 1
        return (Finding(verdict=Verdict.PASSED, score=self._score, check=record.task_id),)


def test_what_scorers_may_see_is_gathered_once() -> None:
    """Whoever asks whether judging costs something looks at the very record that is judged."""
    seen: list[ScoringRecord] = []

    class Looking(Fixed):
        def is_costly(self, record: ScoringRecord) -> bool:
            seen.append(record)
            return False

        async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
            seen.append(record)
            return await super().findings(record)

    (trial,) = trials()
    hearing = Panel({"looking": Looking(1.0)}).hearing(trial, DONE)

    async def heard() -> None:
        assert await hearing.waiting() == ()
        await hearing.scores()

    asyncio.run(heard())
    first, second = seen
    assert first is second


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


def key(scorer: Fixed, *tasks: Task) -> str:
    """Give the key of a score."""
    (trial,) = trials(*tasks)
    (row,) = scored(Panel({"fixed": scorer}), trial, DONE)
    return row.score_key


def test_the_score_key_covers_all_that_judges() -> None:
    """Another call, version, option, expectation or evaluator may judge differently, so it has another key."""
    keys = [
        key(Fixed(1.0)),
        key(Fixed(1.0), task(input={"a": 5})),
        key(Fixed(1.0, version="8")),
        key(Fixed(1.0, tolerance=0.1)),
        key(Fixed(1.0), task(value=4)),
        key(Fixed(1.0), task(evaluator=Evaluator(kind="fixed"))),
        key(Fixed(1.0), task(evaluator=Evaluator(kind="fixed", options={"tolerance": 0.1}))),
    ]
    assert len({len(one) for one in keys} | {32}) == 1
    assert len(set(keys)) == len(keys)
    assert key(Fixed(0.0)) == keys[0]


def test_a_known_score_of_the_same_key_is_not_made_again() -> None:
    """It stands under the name that the scorer has in this config, with the run that made it."""
    (trial,) = trials()
    scorer = Fixed(0.5)
    known = [replace(one, reused_from="r1") for one in scored(Panel({"old": scorer}), trial, DONE)]
    (again,) = scored(Panel({"new": scorer}), trial, DONE, known)
    assert (again.scorer, again.score, again.reused_from) == ("new", 0.5, "r1")
    assert scorer.asked == 1


def test_a_known_score_of_another_key_is_of_no_use() -> None:
    """A new version of the scorer judges for itself."""
    (trial,) = trials()
    known = scored(Panel({"fixed": Fixed(0.5)}), trial, DONE)
    (row,) = scored(Panel({"fixed": Fixed(0.25, version="8")}), trial, DONE, known)
    assert (row.score, row.reused_from) == (0.25, None)


def test_what_could_not_be_graded_is_tried_again() -> None:
    """A scorer that was broken then may work now."""
    (trial,) = trials()
    known = [
        replace(one, score=None, verdict=Verdict.UNGRADED)
        for one in scored(Panel({"fixed": Fixed(0.5)}), trial, DONE)
    ]
    (row,) = scored(Panel({"fixed": Fixed(0.5)}), trial, DONE, known)
    assert row.score == 0.5


def _call(purpose: str) -> Judgement:
    return Judgement(purpose=purpose, model="m", started_at=datetime(2026, 1, 1, tzinfo=UTC), request="{}")


def test_calls_of_a_judge_that_gave_no_verdict_stay_in_the_rows() -> None:
    """They were paid for: judging again adds its own calls to them, each at the check that it was about."""
    (trial,) = trials()
    scores = scored(Panel({"fixed": Fixed(0.5)}), trial, DONE)
    known = [
        replace(one, score=None, verdict=Verdict.UNGRADED, judgements=(_call("assertions"),))
        for one in scores
    ]
    other = replace(known[0], check_id="gone", judgements=(_call("rubric"),))
    (row,) = scored(Panel({"fixed": Fixed(0.5)}), trial, DONE, [*known, other])
    assert (row.score, [call.purpose for call in row.judgements]) == (0.5, ["rubric", "assertions"])


def test_calls_that_another_run_paid_for_stay_there() -> None:
    """Attempts of earlier runs bring none of their judges' calls with them."""
    (trial,) = trials()
    (one,) = scored(Panel({"fixed": Fixed(0.5)}), trial, DONE)
    known = replace(one, verdict=Verdict.UNGRADED, judgements=(_call("assertions"),), reused_from="r1")
    (row,) = scored(Panel({"fixed": Fixed(0.5)}), trial, DONE, [known])
    assert row.judgements == ()


def test_without_a_call_key_nothing_is_known_for_certain() -> None:
    """A trial of an old run has no call key, so its scores have no key either and are never reused."""
    (trial,) = trials()
    (row,) = scored(Panel({"fixed": Fixed(0.5)}), replace(trial, call_key=""), DONE)
    assert row.score_key == ""
    (again,) = scored(Panel({"fixed": Fixed(0.25)}), replace(trial, call_key=""), DONE, [row])
    assert again.score == 0.25
