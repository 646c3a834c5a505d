"""Shards are the same on every machine, at any time; together they are the plan, and none takes much longer."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import planned, skill, task, trials

from skilleval.domain.trials import Condition, Mode, Trial
from skilleval.plan import PlannedSkill
from skilleval.sharding import Durations, is_shard, plan_hash, planned_ids, shard_remark, shards_of

_ids = st.lists(st.uuids().map(lambda one: one.hex), unique=True, max_size=60)


@given(ids=_ids, n=st.integers(1, 80))
def test_equal_trials_are_split_evenly(ids: list[str], n: int) -> None:
    """Each trial is in one shard, and no shard has two more than another, also where there are more shards."""
    shards = shards_of(ids, n)
    sizes = [shards.count(shard) for shard in range(n)]
    assert sum(sizes) == len(ids)
    assert max(sizes) - min(sizes) <= 1


@given(ids=_ids, n=st.integers(1, 8), data=st.data())
def test_the_order_of_the_plan_is_irrelevant(ids: list[str], n: int, data: st.DataObject) -> None:
    """A trial is in the same shard wherever it stands in the plan, with and without weights."""
    mixed = data.draw(st.permutations(ids))
    weights = {one: 1 + int(one[:2], 16) % 7 for one in ids}
    for heavy in (dict.fromkeys(ids, 1), weights):
        before = dict(zip(ids, shards_of(ids, n, [heavy[one] for one in ids]), strict=True))
        after = dict(zip(mixed, shards_of(mixed, n, [heavy[one] for one in mixed]), strict=True))
        assert before == after


def test_long_trials_are_spread_over_the_shards() -> None:
    """With durations no shard takes a third longer than its share, where equal numbers of trials would."""
    rng = random.Random(1)
    ids = [f"{rng.getrandbits(128):032x}" for _ in range(200)]
    weights = [round(10 ** rng.uniform(3, 6)) for _ in ids]

    def longest(shards: list[int]) -> int:
        loads = [sum(w for w, at in zip(weights, shards, strict=True) if at == shard) for shard in range(8)]
        return max(loads)

    share = sum(weights) / 8
    assert longest(shards_of(ids, 8, weights)) < 1.02 * share
    assert longest(shards_of(ids, 8)) > 1.3 * share


def _mode(mode: Mode) -> PlannedSkill:
    one = skill()
    about = {"skill_id": one.id, "skill_version": one.version, "skill_digest": one.digest}
    return PlannedSkill(skill=one, condition=Condition(**about, adapter="chat", sandbox="none", mode=mode))


def _expected(means: dict[tuple[str, str, str], int], *named: Trial) -> list[int]:
    return Durations(source="run", mean_us=means).expected_us(named)


def test_a_call_takes_as_long_as_it_took() -> None:
    """The same task with the same skill counts first, then the task in others, then the mean of all calls."""
    known, same_task, new = trials(task("t1"), task("t2"), task("t3"))
    means = {
        ("t1", "adder", "direct"): 10,
        ("t2", "other", "direct"): 20,
        ("t2", "third", "direct"): 40,
    }
    assert _expected(means, known, same_task, new) == [10, 30, 23]


def test_modes_take_times_of_their_own() -> None:
    """What a task took without the skill says nothing of the same task with it."""
    arms = trials(skills=(_mode(Mode.WITH_SKILL), _mode(Mode.WITHOUT_SKILL)))
    assert _expected({("t1", "adder", "with_skill"): 90, ("t1", "adder", "without_skill"): 10}, *arms) == [
        90,
        10,
    ]


def test_a_call_that_took_no_time_weighs_something() -> None:
    """Trials of no known duration are still spread evenly."""
    laid_out = trials(*(task(f"t{n}") for n in range(8)))
    weights = _expected({("t0", "adder", "direct"): 0}, *laid_out)
    shards = shards_of([one.trial_id for one in laid_out], 4, weights)
    assert sorted(shards) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_ids_do_not_tell_what_a_machine_offers() -> None:
    """A trial under a sandbox that enforces more has another trial id, and the same planned one."""
    weak, strong = (
        trials(skills=(planned(options_digest="w"),)),
        trials(skills=(planned(options_digest="s"),)),
    )
    assert weak[0].trial_id != strong[0].trial_id
    asked = {weak[0].condition_id: "asked", strong[0].condition_id: "asked"}
    assert planned_ids(weak, asked) == planned_ids(strong, asked)


def test_ids_tell_what_was_asked() -> None:
    """Task, limit, repeat, seed and condition each make another planned id."""
    laid_out = itertools.chain(
        trials(repeats=2),
        trials(seed=1),
        trials(task("t2")),
        trials(task(timeout_ms=5.0)),
        trials(skills=(planned(sandbox="docker"),)),
    )
    ids = planned_ids(laid_out, {})
    assert len(set(ids)) == len(ids) == 6


def test_the_hash_of_a_plan_knows_no_order() -> None:
    """It changes with a trial and with what else is told, never with the order of the trials."""
    assert plan_hash(["a", "b"], 1) == plan_hash(["b", "a"], 1)
    assert len({plan_hash(ids, more) for ids in (["a"], ["a", "b"]) for more in (1, 2)}) == 4


def test_ids_and_shards_never_change() -> None:
    """They are a promise between machines and versions: shards of one plan may be run by different ones."""
    laid_out = trials(*(task(f"t{n}") for n in range(6)))
    ids = planned_ids(laid_out, {})
    assert ids[0] == "cd5d766c61127a9e7a8e7701ab05a2f2"
    assert shards_of(ids, 3) == [0, 0, 1, 1, 2, 2]
    assert plan_hash(ids, "more") == "3cd91b32e7900045364982ca28356d64"


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [({}, False), ({"plan": None}, False), ({"plan": {"shards": 1}}, False), ({"plan": {"shards": 2}}, True)],
)
def test_a_run_of_all_shards_is_none(manifest: dict[str, object], expected: bool) -> None:
    """A run that says nothing of shards, or has all of its plan, is whole."""
    assert is_shard(manifest) is expected


def test_a_shard_says_which_one_it_is() -> None:
    """Also one to which no trial falls."""
    plan = {"shards": 8, "shard": 3, "n_trials": 1200}
    assert shard_remark(plan, 150) == (
        "shard 3 of 8 (the first is 0): 150 of 1,200 trials; `skilleval merge` joins all shards"
    )
    assert "none of the 1,200 trials" in shard_remark(plan, 0)
