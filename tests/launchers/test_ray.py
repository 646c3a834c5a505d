from __future__ import annotations

import os

import pytest
from launchers.conftest import Project, same_as_basic

pytestmark = pytest.mark.ray


def test_a_ray_of_our_own_comes_to_the_metrics_of_the_basic_launcher(project: Project) -> None:
    """Four jobs in two workers: the same summaries, times apart."""
    same_as_basic(project, "hydra/launcher=ray_local")


def test_a_cluster_that_runs_elsewhere_works_in_the_folder_of_the_project(project: Project) -> None:
    """Its workers start in another folder, and relative paths mean the same all the same."""
    address = os.environ.get("RAY_ADDRESS")
    assert address, "a cluster is started by scripts/ray-start.sh"
    same_as_basic(project, "hydra/launcher=ray_cluster", f"hydra.launcher.ray.init.address='{address}'")
