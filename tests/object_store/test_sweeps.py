from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from object_store.conftest import Machines
from recorded_runs import RIGHT, WRONG, write_workload

from skilleval.app.sweep_status import sweep_status
from skilleval.results.sweeps import find_sweep

pytestmark = pytest.mark.s3


def test_a_sweep_is_seen_from_another_machine(tmp_path: Path, machines: Machines) -> None:
    """Plan, jobs and runs of a sweep are on the object store, and nothing is left where it was started."""
    place = tmp_path / "work"
    place.mkdir()
    workload = write_workload(place, {"one": RIGHT, "two": WRONG})
    project = tmp_path / "project"
    project.mkdir()
    command = ["eval", "-m", *workload.arguments, "--output-dir", machines.place, "scorer=exact,contains"]
    subprocess.run(
        [sys.executable, "-m", "skilleval", *command, f"paths.cache={tmp_path / 'cache'}"],
        cwd=project,
        check=True,
        capture_output=True,
    )
    assert not list(project.iterdir())
    machines.on("b")
    facts = sweep_status(find_sweep("latest", Path(machines.place)))
    assert facts["by_state"] == {"done": 2}
    assert {job["settings"]["scorer"] for job in facts["jobs"]} == {"exact", "contains"}
    names = {f"study/{Path(job['run_dir']).name}/manifest.json" for job in facts["jobs"]}
    assert names <= set(machines.objects)
