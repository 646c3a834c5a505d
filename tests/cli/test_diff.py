"""`skilleval diff` through the installed console script."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Run

from skilleval.report.diff_writers import DIFF_WRITERS

Replayed = Callable[[Mapping[str, Any]], list[str]]

RIGHT = {"output": {"result": 1}}
WRONG = {"output": {"result": 2}}


@pytest.fixture
def two_runs(run: Run, replayed: Replayed) -> tuple[str, str]:
    """Run two tasks twice; one of them breaks. Give the ids of the runs."""
    first = run("eval", *replayed({"t1": RIGHT, "t2": RIGHT}), "--json").document
    second = run("eval", *replayed({"t1": RIGHT, "t2": WRONG}), "--json").document
    return first["run_id"], second["run_id"]


def test_two_runs_are_compared(run: Run, two_runs: tuple[str, str]) -> None:
    """The verdict is the first line after the title; JSON holds every figure; `report diff` is the same command."""
    done = run("diff", *two_runs, "--label-a", "main", "--label-b", "branch")
    assert done.code == 0, done.err
    title, verdict = done.out.splitlines()[:2]
    assert title == "main → branch"
    assert verdict.startswith("○ inconclusive: about")
    assert "task broken: t2" in verdict
    document = run("report", "diff", *two_runs, "--json").document
    (row,) = document["rows"]
    assert (document["verdict"], document["exit_code"]) == ("inconclusive", 0)
    assert row["metrics"][0]["effect"] == -0.5
    assert [flip["task_id"] for flip in row["flips"]] == ["t2"]


def test_gates_decide_the_exit_code(run: Run, two_runs: tuple[str, str]) -> None:
    """A task that broke fails; with --confirmed-only two tasks confirm nothing; inconclusive fails where asked."""
    assert run("diff", *two_runs, "--fail-on-regression").code == 1
    assert run("diff", *two_runs, "--fail-on-regression", "--confirmed-only").code == 0
    assert run("diff", *two_runs, "--fail-on-inconclusive", "--json").document["exit_code"] == 1
    assert run("diff", *reversed(two_runs), "--fail-on-regression").code == 0


def test_a_gate_holds_the_candidate(run: Run, two_runs: tuple[str, str]) -> None:
    """Rules are asked beside the comparison, against its baseline, and decide the exit code with it."""
    done = run("diff", *two_runs, "--gate", "no_regression", "--json")
    assert (done.code, done.document["exit_code"], done.document["gate"]["exit_code"]) == (1, 1, 1)
    assert "completion_rate" in run("diff", *two_runs, "--gate", "no_regression").out
    assert run("diff", *reversed(two_runs), "--gate", "no_regression").code == 0
    (done.folder / "rules.yaml").write_text("rules: [{metric: completion_rate, at_least: 0.4}]\n")
    assert run("diff", *two_runs, "--rules", "rules.yaml").code == 0
    both = run("diff", *two_runs, "--rules", "rules.yaml", "--gate", "strict")
    assert (both.code, "two gates" in both.err) == (2, True)


def test_files_are_written_as_asked(run: Run, two_runs: tuple[str, str]) -> None:
    """One file by its ending, several formats each with their own."""
    done = run("diff", "previous", "latest", "--format", "markdown", "html", "json", "--output", "d/diff.md")
    assert done.code == 0, done.err
    assert sorted(path.name for path in (done.folder / "d").iterdir()) == [
        "diff.html",
        "diff.json",
        "diff.md",
    ]
    run("diff", *two_runs, "--output", "page.html")
    assert (done.folder / "page.html").read_text().startswith("<!DOCTYPE html>")


def test_every_format_is_written_at_once(run: Run, two_runs: tuple[str, str]) -> None:
    """`all` is every format there is, each with its own ending; the longest ending of a name decides what it is."""
    done = run("diff", *two_runs, "--format", "all", "--no-execute", "--output", "d/diff")
    assert done.code == 0, done.err
    written = {path.name for path in (done.folder / "d").iterdir()}
    assert written == {f"diff{writer.suffix}" for writer in DIFF_WRITERS.values()}
    assert two_runs[0] in (done.folder / "d" / "diff.ipynb").read_text()
    for name in ("a.github.md", "a.xml", "a.tex"):
        assert run("diff", *two_runs, "--output", name).code == 0
    assert "<details>" in (done.folder / "a.github.md").read_text()
    assert (done.folder / "a.xml").read_text().startswith("<?xml")
    assert (done.folder / "a.tex").read_text().startswith("\\documentclass")


def test_a_notebook_needs_rows(run: Run, two_runs: tuple[str, str]) -> None:
    """Of a JSON report no notebook can be made: `all` leaves it out and says so; by its name it is a mistake."""
    for name, run_id in zip("ab", two_runs, strict=True):
        run("report", "convert", "--input", run_id, "--format", "json", "--output", f"{name}.json")
    done = run("diff", "a.json", "b.json", "--format", "all", "--no-execute", "--output", "d/diff")
    assert (done.code, "left out: notebook" in done.err) == (0, True), done.err
    assert len(list((done.folder / "d").iterdir())) == len(DIFF_WRITERS) - 1
    done = run("diff", "a.json", "b.json", "--format", "notebook", "--no-execute", "--output", "d/diff.ipynb")
    assert (done.code, "a notebook cannot be made of this" in done.err) == (2, True), done.err


def test_mistakes_say_what_to_do(run: Run, two_runs: tuple[str, str]) -> None:
    """Wrong formats, a format without a file, an impossible margin and a run that is not there are exit 2."""
    first, second = two_runs
    wrong = {
        "a comparison has no such format": ("--format", "pdf", "--output", "x"),
        "name it with --output": ("--format", "html"),
        "between 0 and 1": ("--margin", "0"),
        "no run": ("--store", "nowhere"),
    }
    for said, options in wrong.items():
        done = run("diff", first, second, *options)
        assert (done.code, said in done.err) == (2, True), (options, done.err)


def test_strict_refuses_runs_that_differ_otherwise(run: Run, replayed: Replayed) -> None:
    """Another concurrency is a warning, and with --strict the end."""
    first = run("eval", *replayed({"t1": RIGHT, "t2": RIGHT}), "--json").document["run_id"]
    second = run("eval", *replayed({"t1": RIGHT, "t2": RIGHT}), "runner.concurrency=1", "--json").document[
        "run_id"
    ]
    assert "▲ the runs had different concurrency (4 and 1)" in run("diff", first, second).out
    refused = run("diff", first, second, "--strict", "--json")
    assert refused.code == 2
    assert "concurrency" in refused.out


GRADER = """
import json, pathlib

text = pathlib.Path("outputs/response.txt").read_text()
checks = [{"id": name, "passed": name in text} for name in "AB"]
print(json.dumps({"passed": all(one["passed"] for one in checks), "checks": checks}))
"""


def test_c43_a_hidden_regression_fails_the_gate(run: Run, replayed: Replayed, folder: Path) -> None:
    """One assertion fixed and another broken leave the case as it was: both are told, and the gate is not met."""
    grader = folder / "grade.py"
    grader.write_text(GRADER)
    judged = (
        "scorer=script",
        f"scorers.script.command=[{sys.executable},{grader}]",
        "sandbox=none",
        "--json",
    )
    ids = []
    for answer in ("only A", "only B"):
        arguments = replayed({"t1": {"output": answer}, "t2": {"output": "A and B"}})
        ids.append(run("eval", *arguments, *judged).document["run_id"])
    done = run("diff", *ids, "--fail-on-regression", "--json")
    (row,) = done.document["rows"]
    assert done.code == 1
    assert {flip["check"]: flip["flip"] for flip in row["flips"]} == {"A": "broken", "B": "fixed"}
    assert (row["metrics"][0]["effect"], row["metrics"][0]["n_tasks"]) == (0.0, 2)
    assert "check broken: t1 / A" in row["sentence"]
