"""`skilleval eval` and `demo` as a user runs it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cli.conftest import EXAMPLES, SCRIPT, Run

from skilleval.results.schema import SCORES, TRIALS, TRIES, polars_schema

Replayed = Callable[[Mapping[str, Any]], list[str]]

RIGHT = {"output": {"result": 1}}
WRONG = {"output": {"result": 2}}


def test_from_config_to_report(run: Run, folder: Path) -> None:
    """The whole line once: 60 trials of the calculator, completion 1.0, three reports, three tables."""
    done = run(
        "eval", "--skills", EXAMPLES / "calculator" / "skill.json", "--benchmark", "coding-easy", "--runs", "3",
        "--format", "json", "markdown", "html", "--output-dir", "out/r", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    (row,) = done.document["summary"]
    assert (row["completion_rate"], row["n_trials"], row["consistency"]) == (1.0, 60, 1.0)
    assert done.document["statuses"] == {"completed": 60}
    (folder_of_run,) = (folder / "out" / "r").iterdir()
    assert {path.name for path in folder_of_run.glob("report.*")} == {
        "report.json",
        "report.md",
        "report.html",
    }
    for table, rows in ((TRIALS, 60), (TRIES, 60), (SCORES, 60)):
        frame = pl.scan_parquet(folder_of_run / table.name / "*.parquet")
        assert frame.collect_schema() == polars_schema(table)
        assert frame.select(pl.len()).collect().item() == rows
    assert "60/60 trials" in done.err


def test_es01_the_entrypoint_runs_in_the_folder_of_its_skill(run: Run, folder: Path) -> None:
    """A `skill.py` in the caller's folder is never run instead, whether a file or a folder is named."""
    (folder / "skill.py").write_text("raise SystemExit('the wrong skill.py')\n")
    for path in (EXAMPLES / "calculator", EXAMPLES / "calculator" / "skill.json"):
        done = run("eval", "--skills", path, "--json")
        assert done.document["summary"][0]["completion_rate"] == 1.0


def test_the_manifest_tells_all_that_is_needed_to_rebuild(run: Run) -> None:
    """Composed config, overrides, versions, digests, seeds, counts, start and end."""
    done = run("eval", EXAMPLES / "calculator", "runner.seed=7", "--json")
    manifest = json.loads((done.run_folder() / "manifest.json").read_text())
    assert manifest["config"]["runner"]["seed"] == manifest["seeds"]["runner"] == 7
    assert "runner.seed=7" in manifest["overrides"]
    assert manifest["command"].startswith("skilleval eval ")
    counts = {"trials": 20, "by_status": {"completed": 20}, "judge_errors": 0, "not_judged": 0}
    assert manifest["counts"] == counts
    assert manifest["started_at"] < manifest["ended_at"]
    assert {len(one["digest"]) for one in (*manifest["skills"], manifest["benchmark"])} == {64}
    assert {"python", "skilleval", "polars", "hydra-core"} <= manifest["versions"].keys()
    sandbox = manifest["sandbox"]
    assert (sandbox["name"], sandbox["warnings"], sandbox["egress"]) == ("process", manifest["warnings"], [])
    assert {"environment", "file_size", "open_files"} <= set(sandbox["guarantees"])
    assert sandbox["mechanism"] in {"bubblewrap", "fallback"}
    assert manifest["exit_code"] == 0


def test_a_skill_below_the_gate_exits_1(run: Run) -> None:
    """The failing skill with a gate exits 1, and 0 without one."""
    gated = ["--exit-on-fail", "--min-completion", "0.8"]
    assert run("eval", "--skills", EXAMPLES / "wrong-calculator", *gated).code == 1
    assert run("eval", "--skills", EXAMPLES / "wrong-calculator").code == 0
    assert run("eval", "--skills", EXAMPLES / "calculator", *gated).code == 0


@pytest.mark.parametrize(
    ("recorded", "options", "code"),
    [
        ({"t1": RIGHT, "t2": RIGHT}, [], 0),
        ({"t1": RIGHT, "t2": WRONG}, ["--exit-on-fail"], 1),
        ({"t1": RIGHT, "t2": WRONG}, ["--exit-on-fail", "--min-completion", "0.5"], 0),
        ({"t1": RIGHT, "t2": {"status": "timeout"}}, [], 0),
        ({"t1": RIGHT, "t2": {"status": "timeout"}}, ["--fail-on-error"], 3),
        ({"t1": {"status": "skill_error"}, "t2": {"status": "timeout"}}, [], 3),
        ({"t1": RIGHT, "t2": {"status": "provider_error"}}, ["--exit-on-fail"], 3),
        ({"t1": RIGHT}, [], 3),
        ({"t1": RIGHT, "t2": RIGHT}, ["--evaluator", "contains", "scorer=task"], 0),
    ],
)
def test_exit_codes(
    run: Run, replayed: Replayed, recorded: Mapping[str, Any], options: list[str], code: int
) -> None:
    """Each outcome has its code: gate 1, infrastructure or nothing completed 3."""
    done = run("eval", *replayed(recorded), *options)
    assert done.code == code, done.err


def test_es31_a_run_without_a_verdict_exits_4(run: Run, replayed: Replayed, folder: Path) -> None:
    """When every trial is ungraded, nothing was evaluated."""
    arguments = replayed({"t1": RIGHT, "t2": RIGHT})
    tasks = json.loads((folder / "tasks.json").read_text())
    for task in tasks:
        task["expectedOutput"] = {"type": "contains", "keywords": []}
    (folder / "tasks.json").write_text(json.dumps(tasks))
    done = run("eval", *arguments, "scorer=exact", "--exit-on-fail", "--json")
    assert done.code == 4, done.err
    assert done.document["summary"][0]["completion_rate"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        ["--runs", "0"],
        ["--runs", "many"],
        ["--concurrency", "0"],
        ["--min-completion", "nan"],
        ["--min-completion", "1.5"],
        ["--timeout", "-1"],
        ["--timeout", "inf"],
        ["--format", "pdf"],
        ["--benchmark", "none-such"],
        ["--evaluator", "none-such"],
        ["--nonsense"],
        ["runner.repeats=x"],
        ["runner.repeatz=1"],
        ["+runner.more=1"],
        ["sandbox=none-such"],
        ["--store", "results.db"],
    ],
)
def test_es15_bad_usage_exits_2_and_writes_nothing(run: Run, folder: Path, arguments: list[str]) -> None:
    """NaN, unknown names and impossible numbers are refused before anything runs."""
    done = run("eval", "--skills", EXAMPLES / "calculator", *arguments)
    assert done.code == 2, done.err
    assert "rror" in done.err
    assert list(folder.iterdir()) == []


def test_a_missing_skill_set_says_how_to_name_one(run: Run) -> None:
    """What is missing is named with what to do."""
    done = run("eval")
    assert done.code == 2
    assert "--skills" in done.err


def test_es24_a_broken_skill_stops_the_command_unless_skipped(run: Run, folder: Path) -> None:
    """One broken file is named and does not hide the others; --skip-invalid goes on without it."""
    (folder / "broken").mkdir()
    (folder / "broken" / "skill.json").write_text('{"id": "x",}')
    stopped = run("eval", "--skills", "broken", EXAMPLES / "calculator")
    assert stopped.code == 2
    assert "broken/skill.json" in stopped.err
    went_on = run("eval", "--skills", "broken", EXAMPLES / "calculator", "--skip-invalid", "--json")
    assert went_on.code == 0
    assert "broken/skill.json" in went_on.err
    assert [row["skill_id"] for row in went_on.document["summary"]] == ["calculator"]


def test_es30_a_dry_run_validates_counts_and_writes_nothing(run: Run, folder: Path) -> None:
    """--dry-run says how much there is to do and leaves no file, in a sweep too."""
    three = [EXAMPLES / name for name in ("calculator", "flaky-calculator", "wrong-calculator")]
    once = run("eval", *three, "--runs", "2", "--dry-run", "--json")
    assert once.code == 0
    assert once.document["n_trials"] == 3 * 20 * 2
    sweep = run("eval", *three, "-m", "scorer=exact,contains", "--dry-run", "--json")
    assert sweep.code == 0
    assert [job["n_trials"] for job in sweep.document["runs"]] == [60, 60]
    assert list(folder.iterdir()) == []


def test_es30_json_prints_one_document_and_nothing_else(run: Run, replayed: Replayed) -> None:
    """Stdout is one JSON document, in success and in failure."""
    good = run("eval", *replayed({"t1": RIGHT, "t2": WRONG}), "--json")
    assert good.document["summary"][0]["completion_rate"] == 0.5
    before = run("--json", "eval", *replayed({"t1": RIGHT, "t2": WRONG}))
    assert before.document["exit_code"] == 0
    bad = run("eval", "--json", "runer.repeats=1")
    assert bad.document["exit_code"] == 2
    assert bad.document["problems"][0]["hint"] == "did you mean runner?"


def test_several_scorers_judge_one_run(run: Run, replayed: Replayed) -> None:
    """`scorer=[a,b]` gives a summary row and score rows for each."""
    done = run(
        "eval", *replayed({"t1": RIGHT, "t2": {"output": "it is 1"}}), "scorer=[exact,contains]", "--json"
    )
    rates = {row["scorer"]: row["completion_rate"] for row in done.document["summary"]}
    assert rates == {"exact": 0.5, "contains": 1.0}
    scores = pl.read_parquet(done.run_folder() / "scores" / "*.parquet")
    assert sorted(scores["scorer"].unique()) == ["contains", "exact"]


def test_a_sweep_makes_a_run_for_each_choice(run: Run, replayed: Replayed) -> None:
    """`-m scorer=a,b` is two runs of one sweep, by Hydra's own sweeper."""
    done = run(
        "eval", "-m", *replayed({"t1": RIGHT, "t2": {"output": "it is 1"}}), "scorer=exact,contains", "--json"
    )
    assert done.code == 0, done.err
    rates = [job["summary"][0]["completion_rate"] for job in done.document["runs"]]
    assert rates == [0.5, 1.0]
    tables = [done.folder / job["tables"]["trials"] for job in done.document["runs"]]
    trials = pl.concat([pl.read_parquet(table / "*.parquet") for table in tables])
    assert trials["run_id"].n_unique() == 2
    assert trials["sweep_id"].n_unique() == 1


def test_c56_a_failed_job_does_not_stop_the_sweep(run: Run, replayed: Replayed) -> None:
    """The other jobs run, the exit code is not 0, and a pasted text with commas is no sweep."""
    done = run("eval", "-m", *replayed({"t1": RIGHT, "t2": RIGHT}), "report.formats=[json],[nope]", "--json")
    assert done.code == 2
    assert [job["exit_code"] for job in done.document["runs"]] == [0, 2]
    titled = run("eval", *replayed({"t1": RIGHT, "t2": RIGHT}), "report.title='a,b=c \"d\"'", "--json")
    assert titled.code == 0, titled.err


def test_values_run_until_an_option_or_an_override(run: Run, replayed: Replayed) -> None:
    """Spaces, commas and repetition mean the same."""
    arguments = replayed({"t1": RIGHT, "t2": RIGHT})
    for formats in (
        ["--format", "json", "markdown", "runner.repeats=1"],
        ["--format", "json,markdown"],
        ["--format", "json", "--format", "markdown"],
        ["--format=json", "markdown"],
    ):
        done = run("eval", *arguments, *formats, "--json")
        assert sorted(done.document["reports"]) == ["json", "markdown"], done.err


def test_store_moves_the_tables_and_is_where_runs_are_found(
    run: Run, replayed: Replayed, folder: Path
) -> None:
    """Reports go to the output folder, tables to the store, and reading commands look there."""
    done = run(
        "eval", *replayed({"t1": RIGHT, "t2": WRONG}), "--output-dir", "reports", "--store", "rows", "--json"
    )
    assert done.document["run_dir"].startswith("rows/")
    assert sorted(path.name for path in (folder / "reports").glob("*/*")) == ["report.json", "report.md"]
    converted = run("report", "convert", "--input", "latest", "--store", "rows", "--format", "html", "--json")
    assert converted.code == 0, converted.err
    assert (folder / converted.document["reports"]["html"]).is_file()


def test_a_report_is_converted_without_running_anything(run: Run, replayed: Replayed, folder: Path) -> None:
    """A JSON report becomes the very Markdown that the run wrote itself."""
    done = run("eval", *replayed({"t1": RIGHT, "t2": WRONG}), "--json")
    reports = done.document["reports"]
    again = run(
        "report", "convert", "--input", reports["json"], "--format", "markdown", "--output", "again.md"
    )
    assert again.code == 0, again.err
    assert (folder / "again.md").read_text() == (folder / reports["markdown"]).read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--input", "latest"],
        ["--input", "tasks.json"],
        ["--input", "tasks.json", "--format", "nope"],
        ["--input", "tasks.json", "--format", "html", "json", "--output", "one.html"],
    ],
)
def test_what_cannot_be_converted_is_named(run: Run, replayed: Replayed, arguments: list[str]) -> None:
    """No run, no report, no such format, one file for two formats: exit 2."""
    replayed({"t1": RIGHT})
    done = run("report", "convert", *arguments)
    assert done.code == 2
    assert "error" in done.err


def test_stored_attempts_can_be_replayed(run: Run) -> None:
    """A run folder is a recording: the same numbers come out and no skill runs."""
    first = run("eval", EXAMPLES / "flaky-calculator", "--runs", "2", "--json")
    folder_of_run = first.document["run_dir"]
    again = run(
        "eval",
        EXAMPLES / "flaky-calculator",
        "--runs",
        "2",
        "adapter=replay",
        f"adapter.path={folder_of_run}",
        "--json",
    )
    assert again.code == first.code
    rates = [done.document["summary"][0]["completion_rate"] for done in (first, again)]
    assert rates[0] == rates[1]
    assert 0 < rates[0] < 1


def test_the_flaky_skill_is_called_flaky(run: Run) -> None:
    """The same seeds give the same answers, and tasks that flip are counted."""
    one, other = (run("eval", EXAMPLES / "flaky-calculator", "--runs", "3", "--json") for _ in range(2))
    summaries = [done.document["summary"][0] for done in (one, other)]
    assert summaries[0]["n_flaky_tasks"] == summaries[1]["n_flaky_tasks"] > 0
    assert summaries[0]["completion_rate"] == summaries[1]["completion_rate"] < 1
    assert "flaky" in one.document["verdict"]


def test_es23_ctrl_c_ends_the_skills_keeps_what_is_done_and_exits_130(
    folder: Path, environment: dict[str, str]
) -> None:
    """Interrupted after some trials: their rows and a report are there, and no process is left."""
    skill = write_slow_skill(folder, slow_from=4)
    command = [
        str(SCRIPT),
        "eval",
        "--skills",
        "slow",
        "--tasks",
        "tasks.json",
        "--concurrency",
        "2",
        "--json",
    ]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for_lines(folder, 4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=180)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    document = json.loads(out)
    assert document["statuses"] == {"completed": 4}
    manifest = json.loads((folder / document["run_dir"] / "manifest.json").read_text())
    assert (manifest["interrupted"], manifest["exit_code"], manifest["n_planned"]) == (True, 130, 8)
    assert processes_in(skill) == []


def test_a_killed_run_can_still_be_read(folder: Path, environment: dict[str, str], run: Run) -> None:
    """After SIGKILL the finished trials are in the journal, and the next reading command makes tables of them."""
    write_slow_skill(folder, slow_from=4)
    process = start_slow_run(folder, environment)
    wait_for_lines(folder, 4)
    process.kill()
    process.wait(timeout=60)
    converted = run("report", "convert", "--input", "latest", "--store", "out", "--format", "json", "--json")
    assert converted.code == 0, converted.err
    report = json.loads((folder / converted.document["reports"]["json"]).read_text())
    assert report["summary"][0]["n_trials"] == 4
    assert report["summary"][0]["completion_rate"] == 1.0


def test_the_demo_shows_what_is_good_flaky_and_wrong(run_script: Run, folder: Path) -> None:
    """Table, verdict, the report to open, the rows, and what to do next."""
    done = run_script("demo")
    assert done.code == 0, done.err
    for words in (
        "calculator",
        "flaky on",
        "wrong-calculator fails all 20 tasks",
        "report.html",
        "skilleval eval --help",
    ):
        assert words in done.out
    (report,) = (folder / "outputs" / "demo").glob("*/report.html")
    assert report.stat().st_size > 100_000


def write_slow_skill(folder: Path, *, slow_from: int) -> Path:
    """Write a skill that takes a minute from some task on, and eight tasks for it."""
    skill = folder / "slow"
    skill.mkdir()
    manifest = {
        "id": "slow",
        "name": "Slow",
        "version": "1.0.0",
        "description": "",
        "adapterType": "subprocess",
        "entrypoint": "python3 skill.py",
    }
    (skill / "skill.json").write_text(json.dumps(manifest))
    (skill / "skill.py").write_text(
        "import json, sys, time\n"
        "request = json.load(sys.stdin)\n"
        f"time.sleep(0.1 if request['params']['n'] < {slow_from} else 60)\n"
        'print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": 1}))\n'
    )
    tasks = [{"id": f"t{n}", "inputData": {"n": n}, "expectedOutput": {"value": 1}} for n in range(8)]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    return skill


def start_slow_run(folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start to evaluate the slow skill, one trial at a time, into the folder `out`."""
    places = ["--skills", "slow", "--tasks", "tasks.json", "--output-dir", "out"]
    command = [str(SCRIPT), "eval", *places, "--concurrency", "1"]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def wait_for_lines(folder: Path, n_lines: int, limit_s: float = 180.0) -> None:
    """Wait until the journal of the only run holds that many trials."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        lines = sum(path.read_bytes().count(b"\n") for path in folder.glob("**/journal-*.jsonl"))
        if lines >= n_lines:
            return
        time.sleep(0.05)
    pytest.fail(f"no {n_lines} trials within {limit_s} s")


def processes_in(folder: Path) -> list[int]:
    """Give the processes whose working folder is this one."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if link.resolve() == folder.resolve():
                found.append(int(link.parent.name))
        except OSError:
            continue
    return found
