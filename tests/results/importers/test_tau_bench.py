"""Trajectories of tau-bench."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from results.importers.foreign import trajectory, write

from skilleval.domain.attempts import Status
from skilleval.domain.scores import Verdict
from skilleval.errors import ResultsError
from skilleval.results.importers.base import ImportOptions
from skilleval.results.importers.tau_bench import TAU_BENCH

PLAIN = ImportOptions()


def test_a_reward_of_one_is_a_success(tmp_path: Path) -> None:
    """Within 1e-6, as tau-bench itself has it; anything less is not."""
    rewards = (1.0, 1 - 5e-7, 0.5, 0.0)
    path = write(tmp_path / "t.json", [trajectory(0, index, one) for index, one in enumerate(rewards)])
    (run,) = TAU_BENCH.read(path, PLAIN)
    assert [trial.checks[0].verdict is Verdict.PASSED for trial in run.trials] == [True, True, False, False]
    assert [trial.repeat for trial in run.trials] == [0, 1, 2, 3]
    assert run.trials[0].task_id == "0"


def test_the_trajectory_gives_answer_and_calls(tmp_path: Path) -> None:
    """The last text of the agent is the output; an assistant message that only calls tools has none."""
    (run,) = TAU_BENCH.read(write(tmp_path / "t.json", [trajectory(0, 0, 1.0)]), ImportOptions(model="m"))
    (trial,) = run.trials
    assert (trial.output, trial.model, trial.skill_id) == ('"done"', "m", "agent")
    assert json.loads(trial.tool_calls or "") == [{"id": "c1", "name": "find", "arguments": '{"a": 1}'}]
    assert trial.input == {"user_id": "u", "instruction": "book"}
    assert trial.usage.cost_usd is None


@pytest.mark.parametrize(
    ("told", "status"),
    [("openai.RateLimitError: slow down", Status.PROVIDER_ERROR), ("KeyError: 'x'", Status.SKILL_ERROR)],
)
def test_an_error_is_told_by_its_class(tmp_path: Path, told: str, status: Status) -> None:
    """What the provider did is nobody's failure; the reward of 0 that stands beside it is no verdict."""
    record = trajectory(0, 0, 0.0, {"error": told, "traceback": f"…\n{told}"})
    (run,) = TAU_BENCH.read(write(tmp_path / "t.json", [record]), PLAIN)
    assert (run.trials[0].status, run.trials[0].checks) == (status, ())


def test_damaged_trajectories_are_told(tmp_path: Path) -> None:
    """A record without a reward is no failure: it is refused with its place."""
    record = trajectory(0, 0, 1.0)
    record["reward"] = None
    with pytest.raises(ResultsError, match=r"\[0\]\.reward: expected a value, found null"):
        TAU_BENCH.read(write(tmp_path / "t.json", [record]), PLAIN)
    with pytest.raises(ResultsError, match="at least one trajectory"):
        TAU_BENCH.read(write(tmp_path / "t.json", []), PLAIN)


def test_it_is_known_by_its_keys(tmp_path: Path) -> None:
    """Nothing goes by the name of a file."""
    assert TAU_BENCH.recognises(write(tmp_path / "t.json", [trajectory(0, 0, 1.0)]))
    assert not TAU_BENCH.recognises(write(tmp_path / "s.json", [{"task_id": 1}]))
