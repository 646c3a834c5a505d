from __future__ import annotations

import json

import pytest
from launchers.conftest import Project, same_as_basic


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
