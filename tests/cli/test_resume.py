"""`skilleval eval --resume` and `runner.resume=true`, as a user meets them."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cli.conftest import SCRIPT, Run
from cli.test_evaluation import wait_for_lines
from recorded_runs import DOWN, RIGHT, WRONG, Workload, write_workload
from small_skills import Said, said

ENDINGS = {"t1": RIGHT, "t2": WRONG, "t3": DOWN, "t4": RIGHT}


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    """Give four tasks, one of them lost to infrastructure."""
    return write_workload(tmp_path, ENDINGS)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    """Give a stored run that no test changes."""
    workload = write_workload(tmp_path_factory.mktemp("stored"), ENDINGS)
    said("eval", *workload.arguments)
    return workload


def resumed(workload: Workload, *arguments: str) -> Said:
    """Go on with the newest run."""
    return said("eval", "--resume", "latest", "--store", workload.folder / "out", *arguments)


def test_es17_a_finished_run_is_reported_whole_again(workload: Workload) -> None:
    """Nothing is left to run: it is said so, all trials are in the report, and the gate decides as before."""
    workload.record(ENDINGS | {"t3": RIGHT})
    gated = ["--exit-on-fail", "--min-completion", "0.9"]
    first = said("eval", *workload.arguments, *gated, "--json")
    (workload.run_folder() / "report.json").unlink()
    again = resumed(workload, "--json")
    assert (first.code, again.code) == (1, 1)
    assert "all 4 trials are done; nothing is left to run" in again.err
    assert again.document["run_id"] == first.document["run_id"]
    assert again.document["summary"] == first.document["summary"]
    assert again.document["statuses"] == {"completed": 4}
    assert (workload.run_folder() / "report.json").is_file()


def test_what_was_lost_runs_again_and_progress_goes_on(workload: Workload) -> None:
    """The exit code is that of the whole run; the progress starts at what is done."""
    assert said("eval", *workload.arguments).code == 3
    workload.record(ENDINGS | {"t3": RIGHT})
    dry = resumed(workload, "--dry-run", "--json")
    assert dry.document["resume"] == str(workload.run_folder())
    counts = {"n_to_run": 1, "n_kept": 3, "n_missing": 0, "n_again": {"provider_error": 1}}
    assert dry.document.items() >= counts.items()
    assert "3 of 4 trials are kept; to run: 1 provider_error" in resumed(workload, "--dry-run").out
    assert workload.manifest()["resumes"] == []
    done = resumed(workload, "--format", "html", "runner.concurrency=1", "--json")
    assert done.code == 0, done.err
    assert "evaluating: 4/4 trials" in done.err
    assert list(done.document["reports"]) == ["html"]
    assert workload.manifest()["resumes"][0]["command"].startswith("skilleval")
    assert pl.read_parquet(workload.run_folder() / "trials" / "*.parquet").height == 4


def test_the_same_command_goes_on_with_resume(workload: Workload) -> None:
    """`runner.resume=true` finds the unfinished run in the output folder; without one it says that a new one starts."""
    command = ["eval", *workload.arguments, "runner.resume=true", "--json"]
    first = said(*command)
    assert "a new one starts" in first.err
    assert said(*command, "--dry-run").document["n_to_run"] == 1
    workload.record(ENDINGS | {"t3": RIGHT})
    second = said(*command)
    assert (first.code, second.code) == (3, 0)
    assert second.document["run_id"] == first.document["run_id"]
    third = said(*command)
    assert "a new one starts" in third.err
    assert third.document["run_id"] != first.document["run_id"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-m"], "--multirun"),
        (["--cfg", "job"], "--cfg"),
        (["--info"], "--info"),
        (["-c", "skilleval.yaml"], "--config"),
        (["runner.seed=1"], "runner.seed: expected 0, as the run has it, found 1"),
        (["scorer=contains"], "scorers.contains"),
        (["paths.output_dir=elsewhere"], "stays where it is"),
        (["runner.sed=1"], "did you mean seed?"),
        (["runner.retries=-1"], "command line: runner.retries=-1"),
        (["scorer=nonsense"], "scorer"),
        (["report.title=a,b"], "one value"),
    ],
)
def test_what_does_not_go_with_a_stored_run_is_refused(
    stored: Workload, arguments: list[str], told: str
) -> None:
    """Exit 2 with the reason, and the run stays as it is."""
    before = stored.manifest()
    refused = resumed(stored, *arguments)
    assert refused.code == 2
    assert told in refused.err
    assert stored.manifest() == before


def test_a_changed_skill_is_told(workload: Workload) -> None:
    """Rows of two versions of a skill never stand in one run."""
    said("eval", *workload.arguments)
    (workload.folder / "skill" / "new.py").write_text("")
    refused = resumed(workload)
    assert refused.code == 2
    assert f"{workload.folder / 'skill'}: expected content as it was" in refused.err


@pytest.mark.parametrize(
    ("damage", "code", "told"),
    [
        (lambda run: (run / "manifest.json").write_text("{"), 2, "manifest.json cannot be read"),
        (
            lambda run: (run / "journal-00007.jsonl").write_text("nonsense\n"),
            2,
            "journal-00007.jsonl:1 cannot be read",
        ),
        (lambda run: (run / "trials" / "part-00000.parquet").write_text("nonsense"), 2, "cannot be read"),
        (lambda run: ((run / ".lock").unlink(), (run / ".lock").mkdir()), 3, "cannot write in"),
        (shutil.rmtree, 2, "no run is stored"),
    ],
)
def test_a_damaged_run_is_told_and_left_alone(
    stored: Workload, tmp_path: Path, damage: Any, code: int, told: str
) -> None:
    """No traceback, no guess, no row lost: the file is named."""
    copy = tmp_path / "out" / stored.run_folder().name
    shutil.copytree(stored.run_folder(), copy)
    damage(copy)
    refused = said("eval", "--resume", "latest", "--store", tmp_path / "out")
    assert refused.code == code
    assert told in refused.err
    assert "Traceback" not in refused.err


def test_relative_paths_begin_where_the_run_was_started(run: Run, folder: Path) -> None:
    """Resumed from another folder, where its skills are not found, the run says from which one it was started."""
    write_workload(folder, ENDINGS)
    places = ["--skills", "skill", "--tasks", "tasks.json", "adapter=replay", "adapter.path=recorded.jsonl"]
    started = run("eval", *places, "--output-dir", "out", "--json")
    lost = said("eval", "--resume", started.run_folder())
    assert lost.code == 2
    assert f"the run was started in {folder}" in lost.err


@pytest.fixture
def patient(folder: Path) -> list[str]:
    """Give arguments that evaluate a skill whose later tasks wait until the file `go` appears beside it."""
    skill = folder / "patient"
    skill.mkdir()
    manifest = {"id": "patient", "name": "P", "version": "1.0.0", "adapterType": "subprocess"}
    (skill / "skill.json").write_text(json.dumps({**manifest, "entrypoint": "python3 skill.py"}))
    (skill / "skill.py").write_text(
        "import json, os, sys, time\n"
        "request = json.load(sys.stdin)\n"
        f"while request['params']['n'] > 2 and not os.path.exists({str(folder / 'go')!r}): time.sleep(0.01)\n"
        'print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": 1}))\n'
    )
    tasks = [{"id": f"t{n}", "inputData": {"n": n}, "expectedOutput": {"value": 1}} for n in range(5)]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    places = ["--skills", "patient", "--tasks", "tasks.json", "--output-dir", "out"]
    return ["eval", *places, "--concurrency", "1", "--json", "sandbox=none"]


def start(folder: Path, environment: Mapping[str, str], arguments: list[str]) -> subprocess.Popen[str]:
    """Start a command and let it run."""
    command = [str(SCRIPT), *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_resume(folder: Path) -> None:
    """Wait until a second session writes the run."""
    end = time.monotonic() + 120
    while not list(folder.glob("out/*/journal-00001.jsonl")):
        assert time.monotonic() < end, "the run was not resumed"
        time.sleep(0.02)


def test_ctrl_c_says_how_to_go_on_also_during_a_resume(
    run: Run, folder: Path, environment: dict[str, str], patient: list[str]
) -> None:
    """The command that it prints goes on with the run, until it is done."""
    process = start(folder, environment, patient)
    wait_for_lines(folder, 3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    (run_folder,) = (folder / "out").iterdir()
    resume = f"skilleval eval --resume out/{run_folder.name}"
    assert resume in err
    process = start(folder, environment, [*resume.split()[1:], "--json"])
    wait_for_resume(folder)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert json.loads(out)["statuses"] == {"completed": 3}
    assert resume in err
    (folder / "go").touch()
    done = run(*resume.split()[1:], "--json")
    assert done.code == 0, done.err
    assert done.document["statuses"] == {"completed": 5}
    assert done.document["summary"][0]["completion_rate"] == 1.0


def test_two_processes_never_write_one_run(
    run: Run, folder: Path, environment: dict[str, str], patient: list[str]
) -> None:
    """The second one is refused at once, a reader is told as before, and a killed process is out of the way."""
    process = start(folder, environment, patient)
    wait_for_lines(folder, 3)
    second = run("eval", "--resume", "latest", "--output-dir", "out")
    process.kill()
    process.communicate(timeout=60)
    assert second.code == 2
    assert "in use by another process" in second.err
    (folder / "go").touch()
    done = run("eval", "--resume", "latest", "--output-dir", "out", "--json")
    assert done.code == 0, done.err
    assert done.document["statuses"] == {"completed": 5}


def test_a_run_folder_that_vanishes_is_told(
    folder: Path, environment: dict[str, str], patient: list[str]
) -> None:
    """Writing into nothing is noticed: exit 3 in one line, and no empty run is left in its place."""
    process = start(folder, environment, patient)
    wait_for_lines(folder, 3)
    shutil.rmtree(folder / "out")
    (folder / "go").touch()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "was removed while it was written" in err
    assert "Traceback" not in err
    assert not (folder / "out").exists()


def test_a_full_disk_keeps_what_is_done_and_says_how_to_go_on(
    run: Run, folder: Path, environment: dict[str, str]
) -> None:
    """The run stops with exit 3; with room again its own command finishes it, no trial twice."""
    workload = write_workload(folder, {"t1": RIGHT, "t2": WRONG})
    command = [str(SCRIPT), "eval", *workload.arguments, "--runs", "200"]
    limited = ["bash", "-c", 'ulimit -f 64; exec "$@"', "bash", *command]
    stopped = subprocess.run(
        limited, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert stopped.returncode == 3, stopped.stderr
    assert "what was finished before is kept" in stopped.stderr
    assert f"skilleval eval --resume {workload.run_folder()}" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    done = run("eval", "--resume", workload.run_folder(), "--json")
    assert done.code == 0, done.err
    assert done.document["statuses"] == {"completed": 400}
    resume = workload.manifest()["resumes"][0]
    assert resume["n_kept"] > 10
    assert resume["n_kept"] + resume["n_missing"] == 400


def test_progress_begins_at_once(workload: Workload) -> None:
    """The first trial may take minutes: a line says how many are to come before it."""
    done = said("eval", *workload.arguments)
    assert "evaluating: 0/4 trials" in done.err.splitlines()
