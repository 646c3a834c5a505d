from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from object_store.conftest import Machines
from recorded_runs import RIGHT, WRONG, write_workload

from skilleval.app.merging import merge, prepare_merging
from skilleval.app.sweep_status import sweep_status
from skilleval.clock import Clock
from skilleval.results.find import find_run
from skilleval.results.schema import TRIALS
from skilleval.results.store import read_manifest, scan_table
from skilleval.results.sweeps import find_sweep

pytestmark = pytest.mark.s3


def swept(tmp_path: Path, machines: Machines, *overrides: str) -> Path:
    """Sweep over two recorded tasks, with results on the object store; give the folder it was started in."""
    place = tmp_path / "work"
    place.mkdir()
    workload = write_workload(place, {"one": RIGHT, "two": WRONG})
    project = tmp_path / "project"
    project.mkdir()
    command = ["eval", "-m", *workload.arguments, "--output-dir", machines.place, *overrides]
    subprocess.run(
        [sys.executable, "-m", "skilleval", *command, f"paths.cache={tmp_path / 'cache'}"],
        cwd=project,
        check=True,
        capture_output=True,
    )
    return project


def test_a_sweep_is_seen_from_another_machine(tmp_path: Path, machines: Machines) -> None:
    """Plan, jobs and runs of a sweep are on the object store, and nothing is left where it was started."""
    project = swept(tmp_path, machines, "scorer=exact,contains")
    assert not list(project.iterdir())
    machines.on("b")
    facts = sweep_status(find_sweep("latest", Path(machines.place)))
    assert facts["by_state"] == {"done": 2}
    assert facts["next"].startswith(f"skilleval sweep report {machines.place}/")
    assert {job["settings"]["scorer"] for job in facts["jobs"]} == {"exact", "contains"}
    names = {f"study/{Path(job['run_dir']).name}/manifest.json" for job in facts["jobs"]}
    assert names <= set(machines.objects)


def test_shards_are_joined_where_nobody_has_listed_them(tmp_path: Path, machines: Machines) -> None:
    """By their prefix, by the address or id of their sweep, or as `latest`; the joined run is sent where they are."""
    swept(tmp_path, machines, "plan.shards=2", "plan.shard=0,1")
    sweep_id = next(key.split("/")[1] for key in machines.objects if key.endswith("sweep.json"))
    for number, said in enumerate((f"{machines.place}/", f"{machines.place}/{sweep_id}", sweep_id, "latest")):
        machines.on(f"other{number}")
        merging = prepare_merging([said], [], store=machines.place, output_dir=None, allow_missing=False)
        assert len(merging.runs) == 2
        assert merging.facts()["output_dir"] == machines.place
    joined = merge(merging, command=["merge"], now=Clock().utc())
    assert joined.address == f"{machines.place}/{joined.folder.name}"
    machines.on("reader")
    found = find_run("latest", Path(machines.place))
    assert found.name == joined.folder.name
    assert read_manifest(found)["config"]["paths"]["output_dir"] == machines.place
    assert sorted(scan_table(found, TRIALS).collect()["task_id"]) == ["one", "two"]


def test_the_object_store_never_hears_of_a_sweep_that_is_refused(tmp_path: Path, machines: Machines) -> None:
    """Nothing is ever deleted there, so nothing is sent before the settings were composed."""
    project = tmp_path / "project"
    project.mkdir()
    workload = write_workload(tmp_path, {"one": RIGHT})
    command = ["eval", "-m", *workload.arguments, "--output-dir", machines.place, "runner.repeet=1,2"]
    refused = subprocess.run(
        [sys.executable, "-m", "skilleval", *command], cwd=project, check=False, capture_output=True
    )
    assert refused.returncode == 2
    assert b"did you mean repeats" in refused.stderr
    assert not machines.objects
