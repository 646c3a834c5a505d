"""`skilleval report show|diff` through the installed console script."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from cli.conftest import ROOT, Run

from skilleval.report import WRITERS
from skilleval.report.diff_writers import DIFF_WRITERS

Replayed = Callable[[Mapping[str, Any]], list[str]]

RIGHT = {"output": {"result": 1}}
WRONG = {"output": {"result": 2}}


def test_a_run_that_is_not_there_is_named(run: Run, replayed: Replayed) -> None:
    """Neither a run nor a report: exit 2 with what there is."""
    run("eval", *replayed({"t1": RIGHT, "t2": RIGHT}))
    done = run("report", "diff", "latest", "nope")
    assert done.code == 2
    assert "nope" in done.err


def test_show_gives_the_table_and_the_document(run: Run, replayed: Replayed) -> None:
    """A stored run is shown as it was shown when it ran."""
    run("eval", *replayed({"t1": RIGHT, "t2": WRONG}))
    assert "recorded" in run("report", "show", "latest").out
    document = run("report", "show", "latest", "--json").document
    assert document["schema"] == "skilleval.report/1"
    assert document["summary"][0]["completion_rate"] == 0.5


def test_csv_is_a_report_format(run: Run, replayed: Replayed) -> None:
    """`--format csv` writes the summary."""
    done = run("eval", *replayed({"t1": RIGHT, "t2": WRONG}), "--format", "csv", "--json")
    with (done.folder / done.document["reports"]["csv"]).open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert float(row["completion_rate"]) == 0.5
    assert json.loads(row["n_trials"]) == 2


def test_all_formats_are_written_at_once(run: Run, replayed: Replayed) -> None:
    """`--format all` writes every format there is, each under its own name."""
    run("eval", *replayed({"t1": RIGHT, "t2": WRONG}))
    done = run("report", "convert", "--input", "latest", "--format", "all", "--no-execute", "--output", "d")
    assert done.code == 0, done.err
    assert {path.name for path in (done.folder / "d").iterdir()} == {
        f"report{writer.suffix}" for writer in WRITERS.values()
    }


def test_all_formats_of_a_json_report_are_those_that_need_no_rows(run: Run, replayed: Replayed) -> None:
    """Away from its run a JSON report becomes every format but the notebook, which is told; beside it, that as well."""
    run("eval", *replayed({"t1": RIGHT, "t2": WRONG}))
    run("report", "convert", "--input", "latest", "--format", "json", "--output", "away.json")
    done = run("report", "convert", "--input", "away.json", "--format", "all", "--output", "d")
    assert (done.code, "left out: notebook" in done.err) == (0, True), done.err
    assert "latex:    d/report.tex" in done.out
    assert len(list((done.folder / "d").iterdir())) == len(WRITERS) - 1
    (beside,) = done.folder.glob("outputs/*/*/report.json")
    done = run(
        "report", "convert", "--input", str(beside), "--format", "all", "--no-execute", "--output", "e"
    )
    assert (done.code, (done.folder / "e" / "report.ipynb").is_file()) == (0, True), done.err


def test_a_template_needs_a_notebook(run: Run, replayed: Replayed) -> None:
    """A template is refused, before anything is written, where none of the formats is a notebook."""
    run("eval", *replayed({"t1": RIGHT}))
    for command in (
        ["report", "convert", "--input", "latest", "--format", "json", "--output", "new"],
        ["diff", "latest", "latest", "--format", "json", "--output", "new.json"],
    ):
        done = run(*command, "--template", "run", "--templates", "mine")
        assert done.code == 2
        assert "--template: expected a notebook among the formats, found run" in done.err
        assert "--templates: expected a notebook among the formats, found mine" in done.err
        assert not list(done.folder.glob("new*"))
    fine = run(
        "report", "convert", "--input", "latest", "--format", "ipynb", "--template", "run", "--no-execute"
    )
    assert fine.code == 0, fine.err
    report = next(fine.folder.rglob("report.json")).rename(fine.folder / "alone.json")
    everything = run("report", "convert", "--input", report, "--format", "all", "--template", "run")
    assert everything.code == 0, everything.err


def test_formats_are_listed_as_they_are_registered(run: Run) -> None:
    """Every help text and the comment in the settings name exactly the formats there are."""
    for command, writers in (
        ("report convert", WRITERS),
        ("eval", WRITERS),
        ("score", WRITERS),
        ("diff", DIFF_WRITERS),
    ):
        words = re.sub(r"\s+", " ", run(*command.split(), "--help").out)
        assert " ".join(writers) in words, command
    comment = (ROOT / "conf" / "report" / "default.yaml").read_text()
    (listed,) = re.findall(r"^formats: .*# any of (.*)$", comment, re.MULTILINE)
    assert set(listed.split(", ")) == set(WRITERS)
