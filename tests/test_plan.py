"""The plan lays out skills × tasks × repeats with ids that depend on content alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import benchmark, planned, skill, task, trials

from skilleval.domain.trials import Trial
from skilleval.plan import PlanOptions, build_trials, longest_duration_s, trial_seed


def test_every_cell_is_planned_once() -> None:
    """Skills × tasks × repeats trials, with ids that never repeat."""
    two = (planned(skill("a")), planned(skill("b")))
    laid_out = trials(task("t1"), task("t2"), task("t3"), skills=two, repeats=4)
    assert len(laid_out) == 2 * 3 * 4
    assert len({trial.trial_id for trial in laid_out}) == len(laid_out)


def test_an_interrupted_run_is_balanced() -> None:
    """The first trials cover every skill and task once before anything is repeated."""
    two = (planned(skill("a")), planned(skill("b")))
    laid_out = trials(task("t1"), task("t2"), skills=two, repeats=2)
    cells = [(trial.skill.id, trial.task.id) for trial in laid_out[:4]]
    assert cells == [("a", "t1"), ("b", "t1"), ("a", "t2"), ("b", "t2")]


def test_ids_depend_on_content_not_on_place() -> None:
    """The same skill in another folder has the same trial id."""
    (here,) = trials(skills=(planned(skill(folder=Path("here"))),))
    (there,) = trials(skills=(planned(skill(folder=Path("there"))),))
    assert here.trial_id == there.trial_id


@pytest.mark.parametrize(
    "changed",
    [
        trials(task(input={"a": 1, "b": 3})),
        trials(task(timeout_ms=5.0)),
        trials(task("t2")),
        trials(skills=(planned(skill(version="1.0.1")),)),
        trials(skills=(planned(skill(digest="2" * 64)),)),
        trials(skills=(planned(sandbox="docker"),)),
        trials(skills=(planned(options_digest="x"),)),
        trials(seed=1),
        trials(repeats=2)[1:],
    ],
)
def test_whatever_changes_the_call_changes_the_id(changed: tuple[object, ...]) -> None:
    """Input, limit, task, skill version and content, condition, seed and repeat are all part of the id."""
    (before,) = trials()
    assert before.trial_id not in {getattr(trial, "trial_id", None) for trial in changed}


def test_what_is_expected_is_not_part_of_the_call() -> None:
    """Another expected value means scoring again, not calling again."""
    (before,) = trials(task(value=3))
    (after,) = trials(task(value=4))
    assert before.trial_id == after.trial_id


@pytest.mark.parametrize(
    "changed",
    [
        trials(task(input={"a": 1, "b": 3})),
        trials(task(timeout_ms=5.0)),
        trials(skills=(planned(skill(digest="2" * 64)),)),
        trials(skills=(planned(isolation="worker"),)),
        trials(skills=(planned(options_digest="x"),)),
        trials(seed=1),
        trials(repeats=2)[1:],
    ],
)
def test_whatever_reaches_the_skill_changes_the_call_key(changed: tuple[Trial, ...]) -> None:
    """Attempts are shared only by calls that are the same to the skill."""
    (before,) = trials()
    assert before.call_key not in {trial.call_key for trial in changed}


def test_what_is_expected_is_not_part_of_the_call_key() -> None:
    """Another expected value, tag or weight asks the skill for nothing else."""
    (before,) = trials(task(value=3))
    (after,) = trials(task(value=4, tags=("new",), weight=2.0))
    assert before.call_key == after.call_key
    assert before.call_key != before.trial_id


def test_seeds_differ_by_repeat_and_are_shared_by_skills() -> None:
    """Two repeats never share a seed; two skills meet the same one, so they are paired."""
    two = (planned(skill("a")), planned(skill("b")))
    seeds = {(trial.skill.id, trial.repeat): trial.seed for trial in trials(skills=two, repeats=2)}
    assert seeds["a", 0] == seeds["b", 0] == trial_seed(0, "sums", "t1", 0)
    assert seeds["a", 0] != seeds["a", 1]
    assert all(0 <= seed < 2**31 for seed in seeds.values())


def test_the_limit_of_the_task_wins() -> None:
    """A task's own time-out is used where it has one."""
    own, default = trials(task("t1", timeout_ms=5.0), task("t2"))
    assert (own.timeout_ms, default.timeout_ms) == (5.0, 1000.0)


def test_the_limit_in_a_skills_own_file_wins_over_the_run() -> None:
    """Task before skill before run."""
    patient = (planned(skill(adapter_options={"timeout_ms": 7.0})),)
    own, default = trials(task("t1", timeout_ms=5.0), task("t2"), skills=patient)
    assert (own.timeout_ms, default.timeout_ms) == (5.0, 7.0)


def test_the_estimate_is_an_upper_bound() -> None:
    """Two trials side by side take as long as one; an odd one out takes its whole limit more."""
    four, three = trials(task("t1"), task("t2"), repeats=2), trials(task(), repeats=3)
    assert longest_duration_s(four, concurrency=1, retries=2) == pytest.approx(12)
    assert longest_duration_s(four, concurrency=4, retries=0) >= 1
    assert longest_duration_s(three, concurrency=2, retries=0) >= 2
    stubborn = (planned(skill(adapter_options={"retries": 1})),)
    assert longest_duration_s(trials(skills=stubborn), concurrency=1, retries=0) == pytest.approx(2)
    assert longest_duration_s((), concurrency=2, retries=0) == 0


def test_no_task_gives_no_trial() -> None:
    """An empty plan is empty; what that means is decided elsewhere."""
    none = benchmark()
    assert build_trials((), none, PlanOptions(repeats=3, seed=0, timeout_ms=1.0)) == ()
