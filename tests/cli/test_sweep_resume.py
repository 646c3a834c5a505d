"""Sweeps that were stopped, or of which jobs failed: only what is missing is run, wherever it is asked for."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Run
from small_skills import write_skill
from warm_program import SCRIPT

RIGHT = {"output": 1}
Replayed = Callable[[Mapping[str, Any]], list[str]]

# Leaves a mark for each call; its third call sleeps until somebody ends it, unless the file `go` is there.
_PROGRAM = """import json, os, sys, time
with open("MARKS", "a") as marks:
    marks.write(f"{os.getpid()}\\n")
if len(open("MARKS").readlines()) == 3 and not os.path.exists("GO"):
    time.sleep(60)
request = json.load(sys.stdin)
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"result": 1}}))
"""


@pytest.fixture
def sleeping(folder: Path) -> list[str]:
    """Give arguments of a sweep of four jobs that make four calls; the third one sleeps."""
    write_skill(folder / "skills", "sleeping")
    program = _PROGRAM.replace("MARKS", str(folder / "marks")).replace("GO", str(folder / "go"))
    (folder / "skills" / "sleeping" / "skill.py").write_text(program)
    tasks = [
        {
            "id": name,
            "description": "",
            "inputData": {"n": name},
            "expectedOutput": {"type": "exact", "value": 1},
        }
        for name in ("t1", "t2")
    ]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    return [
        "eval", "-m", "--skills", "skills", "--tasks", "tasks.json", "sandbox=none", "runner.concurrency=1",
        "runner.seed=1,2", "scorer=exact,contains",
    ]  # fmt: skip


def _marks(folder: Path) -> list[str]:
    path = folder / "marks"
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("which", [signal.SIGKILL, signal.SIGTERM])
def test_a_stopped_sweep_goes_on_where_it_was(
    folder: Path, environment: Mapping[str, str], sleeping: list[str], run: Run, which: signal.Signals
) -> None:
    """After a kill, polite or not, only the call that was cut off is made again, and the run of its job goes on."""
    started = subprocess.Popen(
        [SCRIPT, *sleeping], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 150
    while len(_marks(folder)) < 3:
        assert started.poll() is None, started.stderr and started.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    started.send_signal(which)
    _, told = started.communicate(timeout=60)
    if which is signal.SIGTERM:
        assert b"go on with: skilleval sweep resume " in told
        assert b"eval --resume" not in told
    with suppress(ProcessLookupError):
        os.kill(int(_marks(folder)[2]), signal.SIGKILL)
    (folder / "go").touch()
    before = run("sweep", "status", "--json").document
    states = [job["state"] for job in before["jobs"]]
    stopped = "stopped" if which is signal.SIGKILL else "interrupted"
    assert states == ["done", "done", stopped, "pending"] or sorted(states) == sorted(
        ["done", stopped, "pending", "pending"]
    )
    done = run("sweep", "resume", "latest", "--json")
    assert done.code == 0, done.err
    assert len(_marks(folder)) == 4 + 1
    after = run("sweep", "status", "--json").document
    assert [job["state"] for job in after["jobs"]] == ["done"] * 4
    assert after["trials"] == {"done": 8, "planned": 8}
    # Also where nobody noted the end of a session.
    assert all(job["duration_ms"] > 0 for job in after["jobs"])
    runs_before = {job["run_id"] for job in before["jobs"] if job["run_id"]}
    assert runs_before <= {job["run_id"] for job in after["jobs"]}
    assert len({job["run_id"] for job in after["jobs"]}) == len(
        list(folder.glob("outputs/default/*/manifest.json"))
    )


def test_only_a_failed_job_runs_again(
    folder: Path, tmp_path: Path, run: Run, replayed: Replayed, environment: Mapping[str, str]
) -> None:
    """Its reason is shown and makes the exit code; from any folder, going on runs it and no other one."""
    arguments = [one for one in replayed({"t1": RIGHT, "t2": RIGHT}) if "adapter.path" not in one]
    first = run("eval", "-m", *arguments, "adapter.path=later.jsonl,recorded.jsonl")
    assert first.code == 2
    assert "later.jsonl" in first.out
    assert "next: skilleval sweep resume" in first.out
    status = run("sweep", "status").out
    assert "1 done, 1 failed" in status
    (folder / "later.jsonl").write_text((folder / "recorded.jsonl").read_text())
    (sweep,) = folder.glob("outputs/default/*/sweep.json")
    done = subprocess.run(
        [SCRIPT, "sweep", "resume", str(sweep.parent), "--json"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [job["exit_code"] for job in json.loads(done.stdout)["runs"]] == [0, 0]
    assert len(list(folder.glob("outputs/default/*/manifest.json"))) == 2
    assert json.loads(sweep.read_text())["exit_code"] == 0


def test_a_job_whose_run_was_deleted_runs_again(folder: Path, run: Run, replayed: Replayed) -> None:
    """Status and merge tell of the run that is gone; going on makes a new one, and no other job runs again."""
    swept = run("eval", "-m", *replayed({"t1": RIGHT, "t2": RIGHT}), "runner.seed=1,2", "--json").document
    gone, kept = (Path(job["run_dir"]) for job in swept["runs"])
    shutil.rmtree(gone)
    assert "1 done, 1 lost" in run("sweep", "status").out
    merged = run("merge", swept["sweep_id"])
    assert merged.code == 2
    assert "no run of it (lost)" in merged.err
    done = run("sweep", "resume", "latest", "--json")
    assert done.code == 0, done.err
    runs = [Path(job["run_dir"]) for job in done.document["runs"]]
    assert (runs[0] != gone, runs[1]) == (True, kept)
    assert len(list(folder.glob("outputs/default/*/manifest.json"))) == 2


def test_a_sweep_is_not_gone_on_with_under_other_settings(folder: Path, run: Run, replayed: Replayed) -> None:
    """What changed in a settings file since then is named, and nothing is run."""
    arguments = replayed({"t1": RIGHT, "t2": RIGHT})
    run("eval", "-m", *arguments, "report.formats=[json],[nope]")
    (folder / "skilleval.yaml").write_text("runner: {repeats: 2}\n")
    done = run("sweep", "resume")
    assert done.code == 2
    assert "runner.repeats: expected 1, as it was, found 2" in done.err
    other = run("sweep", "resume", "latest", "runner.repeats=3")
    assert other.code == 2
    assert "does not take runner.repeats=3" in other.err


def test_c56_a_pasted_prompt_never_becomes_a_sweep(folder: Path, run: Run, replayed: Replayed) -> None:
    """Commas, equals signs and quotes are refused with the quoted form; where a sweep is asked for, it is shown."""
    arguments = replayed({"t1": RIGHT, "t2": RIGHT})
    pasted = run("eval", *arguments, 'report.title=a,b=c "d"')
    assert pasted.code == 2
    assert """as one text: 'report.title='"'"'a,b=c "d"'"'"''""" in pasted.err
    split = run("eval", *arguments, "report.title=a,b", "--json")
    assert split.code == 2
    assert "expected one value, found several: a,b (several runs are -m; as one text: " in split.err
    assert not (folder / "outputs").exists()
    quoted = run(
        "eval", *arguments, """report.title='a,b=c "d" ü'""", "model.name=vendor/x:free", "--dry-run"
    )
    assert "report.title" not in quoted.err
    swept = run("eval", "-m", *arguments, "report.title=a,b", "--quiet")
    assert swept.code == 0
    names = [path.name for path in folder.glob("outputs/default/*")]
    assert not any("a,b" in name or "title" in name for name in names)


def test_a_dry_sweep_counts_jobs_and_trials_in_all(run: Run, replayed: Replayed) -> None:
    """What is swept is said first; the trials of all jobs are added up."""
    arguments = replayed({"t1": RIGHT, "t2": RIGHT})
    done = run("eval", "-m", *arguments, "scorer=exact,contains", "runner.repeats=range(1,3)", "--dry-run")
    assert "4 jobs: runner.repeats=1|2 × scorer=exact|contains" in done.err or (
        "4 jobs: scorer=exact|contains × runner.repeats=1|2" in done.err
    )
    assert "4 jobs, 12 trials in all" in done.out
