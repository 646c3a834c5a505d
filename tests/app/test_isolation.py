from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from small_skills import write_skill, write_tasks

from skilleval.app.evaluate import evaluate
from skilleval.app.prepare import Prepared, prepare
from skilleval.config.compose import compose_settings


def _prepared(root: Path, *overrides: str) -> Prepared:
    skills = [
        write_skill(root, "spoken"),
        write_skill(root, "called", adapterType="python", entrypoint="skill:answer"),
        write_skill(root, "asked", adapterType="http", entrypoint="http://127.0.0.1:9/"),
    ]
    settings = [
        f"skill_set.paths=[{','.join(map(str, skills))}]",
        f"benchmark.tasks={write_tasks(root / 'tasks.json')}",
        f"paths.output_dir={root / 'out'}",
        f"paths.cache={root / 'cache'}",
        "sandbox=none",
        *overrides,
    ]
    return prepare(compose_settings(settings, project=root, user_file=root / "none.yaml"))


def _isolations(prepared: Prepared) -> dict[str, str]:
    return {trial.skill.id: trial.condition.isolation for trial in prepared.trials}


@pytest.mark.parametrize(
    ("overrides", "isolations"),
    [
        ([], {"spoken": "trial", "called": "trial", "asked": "worker"}),
        (["runner.isolation=worker"], {"spoken": "worker", "called": "worker", "asked": "worker"}),
        (["adapter.python.inprocess=true"], {"spoken": "trial", "called": "worker", "asked": "worker"}),
    ],
)
def test_a_condition_says_how_its_trials_are_isolated(
    tmp_path: Path, overrides: list[str], isolations: dict[str, str]
) -> None:
    """Behind an address all trials share what answers, whatever is asked for."""
    assert _isolations(_prepared(tmp_path, *overrides)) == isolations


def test_trials_in_workers_are_other_trials(tmp_path: Path) -> None:
    """Neither their ids nor their calls are those of trials with a process each; a server's are."""
    apart, shared = _prepared(tmp_path), _prepared(tmp_path, "runner.isolation=worker")
    is_same = {
        (one.skill.id, one.trial_id == two.trial_id, one.call_key == two.call_key)
        for one, two in zip(apart.trials, shared.trials, strict=True)
    }
    assert is_same == {("spoken", False, False), ("called", False, False), ("asked", True, True)}


def test_a_recording_is_shared(tmp_path: Path) -> None:
    """Nothing runs, so nothing keeps trials apart."""
    recording = tmp_path / "recorded.jsonl"
    recording.write_text(json.dumps({"task_id": "t1", "output": 1}) + "\n")
    prepared = _prepared(tmp_path, "adapter=replay", f"adapter.path={recording}")
    assert set(_isolations(prepared).values()) == {"worker"}


def test_a_run_in_workers_says_so_in_its_rows(tmp_path: Path) -> None:
    """Each process serves as many trials as it may; only the trial that started one has a time to start it."""
    folder = write_skill(tmp_path, "counting", adapterType="python", entrypoint="counting:answer")
    (folder / "counting.py").write_text("n = 0\ndef answer(value):\n global n\n n += 1\n return n\n")
    prepared = _prepared(
        tmp_path,
        f"skill_set.paths=[{folder}]",
        "runner.isolation=worker",
        "runner.worker_trials=3",
        "runner.repeats=2",
        "runner.concurrency=1",
        "report.formats=[]",
    )
    outcome = evaluate(prepared, observe=lambda record: None)
    rows = pl.read_parquet(outcome.folder / "trials").sort("started_at")
    assert rows["output"].to_list() == ["1", "2", "3", "1"]
    assert rows["isolation"].to_list() == ["worker"] * 4
    assert rows["spawn_ms"].is_null().to_list() == [False, True, True, False]
