from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from launchers.conftest import N_TASKS, Project, same_as_basic
from warm_program import SCRIPT

JOBLIB = ("hydra/launcher=joblib_local", "hydra.launcher.n_jobs=2")


def states(project: Project) -> list[str]:
    """Give the state of each job of the newest sweep."""
    document: Any = json.loads(project.ask("sweep", "status", "--json").stdout)
    return [job["state"] for job in document["jobs"]]


def kill_worker(project: Project) -> None:
    """Kill a worker that works in the project, as soon as its skill was called."""
    deadline = time.monotonic() + 180
    while not project.calls():
        assert time.monotonic() < deadline, "no job began"
        time.sleep(0.05)
    workers = [int(place.name) for place in Path("/proc").glob("[0-9]*") if _is_worker(place, project.folder)]
    os.kill(workers[0], signal.SIGKILL)


def _is_worker(place: Path, folder: Path) -> bool:
    try:
        return b"popen_loky" in (place / "cmdline").read_bytes() and (place / "cwd").readlink() == folder
    except OSError:
        return False


def test_joblib_comes_to_the_metrics_of_the_basic_launcher(project: Project) -> None:
    """Four jobs in two processes: the same summaries, times apart."""
    same_as_basic(project, *JOBLIB)


def test_a_killed_worker_takes_no_other_job_with_it_for_good(project: Project) -> None:
    """Jobs that nobody began run all the same; what lost its process is `stopped`, and resume completes it."""
    slow = project.folder / "slow"
    slow.touch()
    with ThreadPoolExecutor() as pool:
        running = pool.submit(project.sweep, *JOBLIB, grid=("runner.seed=range(4)",))
        kill_worker(project)
        slow.unlink()
        swept = running.result()
    assert (swept.returncode, "Traceback" in swept.stderr) == (3, False), swept.stderr
    assert "a process of the launcher is gone" in swept.stderr
    found = states(project)
    assert set(found) == {"stopped", "done"}, found
    assert found.count("done") >= 2, found
    resumed = project.call("sweep", "resume", "latest", "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert states(project) == ["done"] * 4


def test_shards_run_by_joblib_merge_to_the_run_in_one_piece(project: Project) -> None:
    """`plan.shards=4` swept in two processes and merged judges the trials of the unsharded run."""
    swept = project.sweep(*JOBLIB, grid=("plan.shards=4", "plan.shard=range(4)"))
    assert swept.returncode == 0, swept.stderr
    place = json.loads(swept.stdout)["sweep_dir"]
    merged = json.loads(project.ask("merge", place, "--json").stdout)
    whole = json.loads(project.sweep(grid=("runner.repeats=1",)).stdout)["runs"][0]
    keys = ("skill_id", "scorer", "completion_rate", "ci_low", "ci_high", "n_graded")
    assert [[row[key] for key in keys] for row in merged["summary"]] == [
        [row[key] for key in keys] for row in whole["summary"]
    ]
    assert merged["summary"][0]["n_graded"] == N_TASKS


def test_jobs_in_other_processes_log_as_asked(project: Project) -> None:
    """`--log-file` gets the events of all jobs, and `--log-format silent` keeps everything else from stderr."""
    swept = project.call(
        "eval", "-m", "--skills", "skills", "--tasks", "tasks.json", "sandbox=none", "scorer=exact,contains",
        *JOBLIB, "--log-format", "silent", "--log-file", "events.jsonl", "--json",
    )  # fmt: skip
    assert (swept.returncode, swept.stderr) == (0, "")
    events = [json.loads(line) for line in (project.folder / "events.jsonl").read_text().splitlines()]
    assert len({event["run_id"] for event in events if "run_id" in event}) == 2


def test_a_stop_ends_jobs_in_other_processes_as_interrupted(project: Project) -> None:
    """A Ctrl-C reaches all processes: exit 130, and no job is said to have broken or never to have ended."""
    slow = project.folder / "slow"
    slow.touch()
    command = (
        *("eval", "-m", "--skills", "skills", "--tasks", "tasks.json", "sandbox=none", "runner.cache=off"),
        *("runner.seed=range(4)", *JOBLIB, "--json"),
    )
    with subprocess.Popen(
        [str(SCRIPT), *command],
        cwd=project.folder,
        env={**os.environ, "XDG_CONFIG_HOME": str(project.folder / "xdg"), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        restore_signals=True,
    ) as running:
        deadline = time.monotonic() + 180
        while not project.calls():
            assert time.monotonic() < deadline, "no job began"
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=120)
    slow.unlink()
    assert (running.returncode, "Traceback" in err) == (130, False), err
    document = json.loads(out)
    assert {(job["exit_code"], job["state"]) for job in document["runs"]} == {(130, "interrupted")}
    assert set(states(project)) == {"interrupted", "pending"}
    assert document["next"].startswith("skilleval sweep resume ")
