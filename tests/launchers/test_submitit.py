from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from launchers.conftest import N_TASKS, Project, same_as_basic


def test_submitit_comes_to_the_metrics_of_the_basic_launcher(project: Project) -> None:
    """Four processes of their own: the same summaries, times apart."""
    same_as_basic(project, "hydra/launcher=submitit_here")


@pytest.mark.slurm
def test_slurm_comes_to_the_metrics_of_the_basic_launcher(project: Project) -> None:
    """Four jobs of a real Slurm: the same summaries, times apart."""
    same_as_basic(project, "hydra/launcher=slurm_cluster")


@pytest.mark.slurm
def test_a_job_that_slurm_ran_is_there_for_the_next_session(project: Project) -> None:
    """`sweep status` knows the runs of jobs that ran on nodes, and `sweep resume` has nothing left to call."""
    assert project.sweep("hydra/launcher=slurm_cluster", grid=("runner.seed=1,2",)).returncode == 0
    calls = project.calls()
    assert json.loads(project.call("sweep", "status", "--json").stdout)["by_state"] == {"done": 2}
    assert project.call("sweep", "resume", "latest", "--json").returncode == 0
    assert project.calls() == calls


def slurm(*command: str) -> str:
    """Ask the cluster; what it refuses is empty."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def queued(state: str) -> list[str]:
    """Give the ids of the jobs in a state."""
    return slurm("squeue", "--noheader", "--array", f"--states={state}", "--format=%i").split()


def until(happens: Callable[[], object]) -> None:
    """Wait for something that has to happen."""
    deadline = time.monotonic() + 180
    while not happens():
        assert time.monotonic() < deadline, slurm("squeue")
        time.sleep(0.05)


@pytest.mark.slurm
def test_a_job_that_is_queued_again_in_its_middle_ends_with_every_trial_once(project: Project) -> None:
    """`scontrol requeue` ends a running job; it goes on in its own run, and the call that was cut off is no result."""
    slow = project.folder / "slow"
    slow.touch()
    with ThreadPoolExecutor() as pool:
        running = pool.submit(
            project.sweep, "hydra/launcher=slurm_cluster", "runner.concurrency=1", grid=("runner.seed=1",)
        )
        until(lambda: project.calls() >= 3)  # one at a time: the first two are done, the third is under way
        (job,) = queued("RUNNING")
        slurm("scontrol", "requeue", job)
        until(lambda: job in queued("PENDING"))
        slow.unlink()
        time.sleep(
            3
        )  # Slurm takes back the job's credential by the second, and would refuse one of the same second
        slurm("scontrol", "update", f"JobId={job}", "StartTime=now")  # Slurm itself lets two minutes pass
        swept = running.result()
    assert swept.returncode == 0, swept.stderr
    (folder,) = (path.parent for path in (project.folder / "outputs").glob("*/*/trials"))
    trials = pl.read_parquet(folder / "trials" / "*.parquet")
    assert sorted(trials["task_id"]) == [f"t{number}" for number in range(N_TASKS)]
    assert set(trials["status"]) == {"completed"}
    assert project.calls() == N_TASKS + 1
    (resumed,) = json.loads((folder / "manifest.json").read_text())["resumes"]
    assert (resumed["n_kept"], resumed["n_missing"]) == (2, N_TASKS - 2)
