"""Sweeps for tests: what was measured by hand, reports of it, and whole sweeps of stored runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
from stored_runs import Runs

from skilleval.analytics.effects import Measure
from skilleval.analytics.sweeps import Setting, measure_named
from skilleval.analytics.sweeps_effects import Judging
from skilleval.report.sweep_build import PARTS, build_sweep_report
from skilleval.report.sweep_document import SweepAbout, SweepMethod, SweepReport
from skilleval.results.sweeps import job_key, write_job, write_sweep

HOW = Judging(level=0.95, margin=0.05, seed=7)
SWEEP_ID = "20261130T120000Z-5e1ec7"
METHOD = SweepMethod(
    metric="completion_rate",
    kind="difference",
    better="higher",
    unit="share",
    level=0.95,
    margin=0.05,
    seed=7,
    resamples=1000,
)


def measure(name: str = "completion_rate") -> Measure:
    """Give a metric by its name."""
    found = measure_named(name)
    assert found is not None
    return found


def grid(**levels: Sequence[str]) -> tuple[Setting, ...]:
    """Give settings with their levels."""
    return tuple(Setting(name=name, levels=tuple(found)) for name, found in levels.items())


def measured(
    settings: Sequence[Setting],
    value: Callable[[Mapping[str, str], str, int], float | None],
    *,
    skills: Sequence[str] = ("s",),
    n_tasks: int = 12,
) -> pl.DataFrame:
    """Give the frame of `task_values`: the value of each cell, skill and task; null is a task that was not graded."""
    rows = []
    for job, levels in enumerate(product(*(one.levels for one in settings))):
        cell = dict(zip([one.name for one in settings], levels, strict=True))
        for skill, task in product(skills, range(n_tasks)):
            found = value(cell, skill, task)
            columns = {one.column: cell[one.name] for one in settings}
            about = {"skill_id": skill, "mode": "direct", "scorer": cell.get("scorer", "task")}
            place = {"benchmark_id": "b", "task_id": f"t{task:02}"}
            if found is not None:
                rows.append({"job": job, **columns, **about, **place, "value": float(found)})
    return pl.DataFrame(rows)


def sweep_report(**frames: Sequence[Mapping[str, Any]]) -> SweepReport:
    """Build a report of some rows; parts that are not named have none."""
    about = SweepAbout(
        sweep_id=SWEEP_ID,
        experiment="default",
        command=("eval", "-m"),
        sweeper="planned",
        launcher="basic",
        is_planned=True,
        started_at="2026-11-30T12:00:00.000+00:00",
        ended_at="2026-11-30T12:01:00.000+00:00",
        n_jobs=len(frames.get("jobs", ())),
        by_state={"done": len(frames.get("jobs", ()))},
    )
    made = {name: pl.DataFrame(list(frames.get(name, ())), infer_schema_length=None) for name in PARTS}
    return build_sweep_report(about=about, method=METHOD, frames=made)


def stored_sweep(runs: Runs, wrong: Mapping[tuple[str, str], Sequence[str] | None]) -> Path:
    """Run a sweep over `model` × `runner.seed` by hand; a cell with null is a job that failed. Give its folder."""
    folder = runs.store / "default" / SWEEP_ID
    jobs = []
    for job, ((model, seed), tasks) in enumerate(wrong.items()):
        overrides = [f"model={model}", f"runner.seed={seed}"]
        about = {"job": job, "overrides": overrides, "settings": {"model": model, "runner.seed": seed}}
        key = job_key(overrides)
        jobs.append({**about, "key": key})
        ended: dict[str, Any] = {"state": "failed", "exit_code": 2, "error": "the provider <b>refused</b> it"}
        if tasks is not None:
            run = runs.run(f"runner.seed={seed}", wrong=tasks)
            ended = {
                "state": "done",
                "exit_code": 0,
                "run_id": run.name,
                "run_dir": str(run.resolve()),
                "verdict": "ok",
            }
        write_job(folder, key, {**about, **ended})
    plan = {
        "sweep_id": SWEEP_ID,
        "experiment": "default",
        "command": ["eval", "-m"],
        "grid": {
            name: list(dict.fromkeys(cell[at] for cell in wrong))
            for at, name in enumerate(("model", "runner.seed"))
        },
        "sweeper": "planned",
        "launcher": "basic",
        "is_planned": True,
        "jobs": jobs,
        "started_at": "2026-11-30T12:00:00.000+00:00",
        "ended_at": "2026-11-30T12:01:00.000+00:00",
        "exit_code": 0,
    }
    write_sweep(folder, plan)
    return folder
