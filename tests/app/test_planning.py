"""The plan behind a run: its hash, its shards, and what they are balanced by."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_runs import RIGHT, WRONG, Workload, write_workload

from skilleval.app.evaluate import evaluate
from skilleval.app.planning import Plan, without_places
from skilleval.app.prepare import Prepared
from skilleval.app.resume import plan_digest
from skilleval.domain.trials import Condition
from skilleval.errors import ConfigError, ResultsError
from skilleval.outcome import ExitCode

TASKS = tuple(f"t{number}" for number in range(6))


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    """Give six tasks, of which the first takes ten times as long."""
    slow = {**RIGHT, "latency_ms": 125.0}
    return write_workload(tmp_path, {name: slow if name == "t0" else RIGHT for name in TASKS})


def _plan(prepared: Prepared) -> Plan:
    assert prepared.plan is not None
    return prepared.plan


def test_shards_are_the_plan(workload: Workload) -> None:
    """Each trial of the plan runs in one shard, in the order of the plan; some shards may have none."""
    plan = _plan(workload.prepared())
    for n in (2, 5, 9):
        shares = [replace(plan, n_shards=n, shard=shard).share for shard in range(n)]
        assert Counter(one.trial_id for share in shares for one in share) == Counter(
            one.trial_id for one in plan.trials
        )
        assert all(share == tuple(one for one in plan.trials if one in share) for share in shares)
        assert [bool(share) for share in shares] == [shard < 6 for shard in range(n)]


def test_all_shards_name_the_same_plan(workload: Workload) -> None:
    """The hash is that of the whole plan, sharded or not; what each has to do is a plan of its own to go on with."""
    runs = [workload.prepared(), *(workload.prepared("plan.shards=2", f"plan.shard={at}") for at in (0, 1))]
    assert len({_plan(one).facts()["digest"] for one in runs}) == 1
    assert len({plan_digest(one) for one in runs}) == 3


@pytest.mark.parametrize(
    "override",
    ["runner.seed=1", "scorer=contains", "runner.latency=serial"],
)
def test_another_plan_has_another_hash(workload: Workload, override: str) -> None:
    """Whatever changes which rows come of it changes the hash."""
    assert (
        _plan(workload.prepared()).facts()["digest"] != _plan(workload.prepared(override)).facts()["digest"]
    )


def test_the_hash_does_not_tell_what_the_sandbox_enforces(workload: Workload) -> None:
    """Conditions that differ only in what a machine offers are one plan; trial ids still tell them apart."""
    plan = _plan(workload.prepared())
    (asked,) = plan.asked.values()

    def elsewhere(condition: Condition) -> Condition:
        return replace(condition, options_digest="what another machine offers")

    trials = tuple(
        replace(one, condition=elsewhere(one.condition), condition_id=elsewhere(one.condition).condition_id)
        for one in plan.trials
    )
    other = replace(plan, trials=trials, asked={trials[0].condition_id: asked})
    assert trials[0].condition_id != plan.trials[0].condition_id
    assert other.facts() == plan.facts()


def test_where_a_recording_lies_is_no_part_of_what_is_compared(workload: Workload, tmp_path: Path) -> None:
    """The same files in another folder give the same trial ids; a recording of another name does not."""
    before = [trial.trial_id for trial in workload.prepared().trials]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = write_workload(elsewhere, dict.fromkeys(TASKS, WRONG))
    assert [trial.trial_id for trial in other.prepared().trials] == before
    renamed = elsewhere / "second.jsonl"
    renamed.write_bytes((elsewhere / "recorded.jsonl").read_bytes())
    assert [trial.trial_id for trial in other.prepared(f"adapter.path={renamed}").trials] != before


def test_only_places_are_shortened() -> None:
    """Options of a part that names no places stay as they are."""

    class Placed:
        places = ("path",)

    options = {"path": "/a/b.csv", "text": "/a/b.csv"}
    assert without_places(Placed(), options) == {"path": "b.csv", "text": "/a/b.csv"}
    assert without_places(object(), options) == options


def test_shards_are_balanced_by_a_run(workload: Workload) -> None:
    """With the latencies of a run the slow task gets a shard of its own; which run that was is told."""
    run = evaluate(workload.prepared(), observe=lambda _: None)
    balanced = _plan(workload.prepared("plan.shards=2", f"plan.durations={run.folder}"))
    for plan, sizes in ((balanced, [1, 5]), (replace(balanced, durations=None), [3, 3])):
        assert sorted(len(replace(plan, shard=shard).share) for shard in (0, 1)) == sizes
    told = balanced.facts()["durations"]
    assert told["run_id"] == run.run_id
    assert len(told["digest"]) == 32


def test_durations_come_from_one_certain_run(workload: Workload) -> None:
    """`latest` would be another run for a shard that starts later."""
    with pytest.raises(ConfigError, match="must agree") as refused:
        workload.prepared("plan.shards=2", "plan.durations=latest")
    assert refused.value.problems[0].key == "plan.durations"


def test_durations_that_nobody_knows_are_refused(workload: Workload) -> None:
    """A run without a single latency cannot balance anything."""
    workload.record({name: {"output": {"result": 1}} for name in TASKS})
    run = evaluate(workload.prepared(), observe=lambda _: None)
    with pytest.raises(ResultsError, match="no call of it has a known duration"):
        workload.prepared("plan.shards=2", f"plan.durations={run.folder}")


def test_a_shard_that_is_not_there_is_refused(workload: Workload) -> None:
    """Shards are counted from 0."""
    with pytest.raises(ConfigError) as refused:
        workload.prepared("plan.shards=2", "plan.shard=2")
    assert "a shard from 0 to 1" in refused.value.problems[0].expected


def test_a_shard_fails_no_gate(workload: Workload) -> None:
    """A gate is about the whole: what each shard missed is decided when they are joined."""
    workload.record(dict.fromkeys(TASKS, WRONG))
    gate = (
        "gate.exit_on_fail=true",
        "gate.fail_on_error=true",
        "gate.rules=[{metric: error_rate, at_least: 1}]",
    )
    assert evaluate(workload.prepared(*gate), observe=lambda _: None).exit_code is ExitCode.GATE_NOT_MET
    part = evaluate(workload.prepared(*gate, "plan.shards=2"), observe=lambda _: None)
    assert part.exit_code is ExitCode.OK
    assert part.report.gates == ()
    assert part.report.provenance.warnings[0].startswith("shard 0 of 2 (the first is 0): 3 of 6 trials")


def test_an_empty_shard_is_done_at_once(workload: Workload) -> None:
    """More shards than trials are no failure: tables and reports are there, without a row; nothing is left to do."""
    prepared = workload.prepared("plan.shards=9", "plan.shard=8", "gate.exit_on_fail=true")
    outcome = evaluate(prepared, observe=lambda _: None)
    manifest = workload.manifest()
    assert outcome.exit_code is ExitCode.OK
    assert outcome.statuses == {}
    assert manifest["ended_at"] is not None
    assert manifest["interrupted"] is False
    assert manifest["plan"] | {"digest": ""} == {
        "digest": "",
        "n_trials": 6,
        "shards": 9,
        "shard": 8,
        "durations": None,
    }
