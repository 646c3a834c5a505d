"""What models were paid for, and what they failed at, from the command line on a real server."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl
import pytest
from cli.conftest import SCRIPT, Done, Run
from model_servers import ModelServer, model_server

SKILL = """---
name: greek
description: Shouts Greek letters. Use when a letter is named.
---
Say the letter in capitals.
"""
CASES = [
    {"id": number, "prompt": f"say letter {number}", "assertions": ['Says "know"']} for number in range(4)
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ModelServer]:
    """Give a server that logs each call it is paid for."""
    with model_server(tmp_path) as started:
        yield started


@pytest.fixture(autouse=True)
def skills(folder: Path) -> Path:
    """Give a folder with one instruction skill and four cases."""
    made = folder / "skills" / "greek"
    (made / "evals").mkdir(parents=True)
    (made / "SKILL.md").write_text(SKILL)
    (made / "evals" / "evals.json").write_text(json.dumps({"evals": CASES}))
    return folder / "skills"


def arguments(
    server: ModelServer, *more: str, target: str = "scripted", judge: str = "scripted"
) -> list[str]:
    """Give the arguments that evaluate the skill on the server."""
    models = ("--target", target, "--judge", judge, "--base-url", server.base_url, "--api-key-env", "")
    return ["eval", "./skills", *models, "--json", *more]


def rows(done: Done, table: str) -> pl.DataFrame:
    """Read a table of the run that a command wrote."""
    return pl.read_parquet(done.run_folder() / table / "*.parquet")


def stopped_by(done: Done) -> str | None:
    """Give what ended the run early, as its manifest says."""
    manifest = json.loads((done.run_folder() / "manifest.json").read_text())
    return None if manifest["stopped_by"] is None else str(manifest["stopped_by"])


@pytest.mark.parametrize(("target", "kind"), [("fault-503", "unavailable"), ("fault-401", "not_authorised")])
def test_a_trial_that_fails_is_an_event(
    run: Run, server: ModelServer, folder: Path, target: str, kind: str
) -> None:
    """Each failure has its kind and message in the event log, and ends neither the log nor the run."""
    done = run(*arguments(server, "--log-file", "events.jsonl", target=target))
    assert (done.code, rows(done, "trials").height) == (3, 4)
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert Counter(one["type"] for one in events)["error"] == 4
    told = next(one for one in events if one["type"] == "error")
    assert (told["failureKind"], told["status"]) == (kind, "provider_error")
    assert events[-1]["type"] == "run-end"


def test_attempts_of_earlier_runs_are_not_spent_again(run: Run, server: ModelServer) -> None:
    """A budget counts what this run paid for; a resume starts from the same sum."""
    assert run(*arguments(server)).code == 0
    short = ("runner.cache=reuse", "--concurrency", "1", "--budget-tokens", "400")
    first = run(*arguments(server, *short, judge="other"))
    assert (first.code, rows(first, "trials")["reused_from"].null_count()) == (5, 0)
    again = run("eval", "--resume", "latest", "--json")
    assert (again.code, stopped_by(again)) == (5, stopped_by(first))


def test_each_paid_call_of_a_judge_stays_in_its_table(run: Run, server: ModelServer) -> None:
    """A judge whose replies are of no use is asked again by a resume; what it was paid before is not forgotten."""
    first = run(*arguments(server, judge="fault-judge-garbage"))
    assert (first.code, rows(first, "judgements").height) == (3, 8)
    again = run("eval", "--resume", "latest", "--json")
    assert (again.code, rows(again, "judgements").height) == (3, 16)
    assert len([one for one in server.logged() if one["purpose"] == "judge"]) == 16


def test_a_spent_budget_is_why_nobody_was_judged_again(run: Run, server: ModelServer) -> None:
    """Exit code 5 and the reason, also where all that is left is the judge's."""
    assert run(*arguments(server, judge="fault-judge-garbage")).code == 3
    again = run("eval", "--resume", "latest", "budget.tokens=10", "--json")
    assert again.code == 5, again.err
    assert (stopped_by(again) or "").startswith("budget.tokens: ")
    assert f"stopped early: {stopped_by(again)}" in again.err
    assert "budget.tokens=N" in again.err


def test_a_budget_that_is_spent_in_a_sweep_is_raised_in_a_new_one(run: Run, server: ModelServer) -> None:
    """A sweep is gone on with as it was planned, so that going on would spend nothing and come to nothing more."""
    short = ("--concurrency", "1", "--budget-tokens", "10")
    swept = run(*arguments(server, "-m", *short, "runner.seed=1,2"))
    assert (swept.code, [job["state"] for job in swept.document["runs"]]) == (5, ["failed", "failed"])
    assert "start a new sweep with budget.tokens=N, with more than that" in swept.err
    assert "resume" not in swept.err
    assert "[1/2] runner.seed=1 failed, exit 5: " in swept.err
    assert "job 0: runner.seed=1; job 1: runner.seed=2" in swept.document["remark"]
    assert swept.document["next"].startswith("skilleval sweep report ")


@pytest.mark.parametrize("swept", [(), ("-m", "runner.seed=1,2")])
def test_what_awaits_its_judge_is_not_done(
    run: Run, server: ModelServer, folder: Path, environment: Mapping[str, str], swept: tuple[str, ...]
) -> None:
    """Stopped while judges are asked: report, last line, going on and the status of a sweep say so."""
    words = arguments(server, "--concurrency", "4", "--output-dir", "out", *swept, judge="fault-hang")
    process = subprocess.Popen(
        [str(SCRIPT), *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 180
    while _n_journalled(folder / "out") < len(CASES) and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=180)
    assert process.returncode == 130, err
    told = json.loads(out)
    if swept:
        said = run("sweep", "status", "latest", "--store", "out", "--json").document
        assert (said["trials"]["done"], said["jobs"][0]["n_trials"]) == (0, 0)
        return
    assert told["verdict"].startswith("Interrupted after 0 of 4 trials, 4 more not judged yet")
    shown = run("report", "show", "latest", "--store", "out", "--json").document["run"]
    assert (shown["n_trials"], shown["n_not_judged"], shown["n_planned"]) == (0, 4, 4)
    going_on = run("eval", "--resume", "latest", "--store", "out", "--dry-run")
    assert "0 of 4 trials are kept" in going_on.out


def _n_journalled(folder: Path) -> int:
    return sum(len(path.read_bytes().splitlines()) for path in folder.rglob("journal-*.jsonl"))
