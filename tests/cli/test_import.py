"""`skilleval import` as a user runs it, and what may be done with its runs."""

from __future__ import annotations

from pathlib import Path

from cli.conftest import Run
from results.importers.foreign import (
    UNITS_BENCHMARK,
    agent_skills_eval,
    eval_skills_report,
    write,
)

MANIFEST = {
    "id": "unit_convert",
    "name": "Units",
    "version": "1.2.0",
    "description": "",
    "adapterType": "subprocess",
    "entrypoint": "never run",
}


def test_an_imported_run_is_shown_selected_and_scored_again(run: Run, folder: Path) -> None:
    """What works on a run of our own works on an imported one, without calling a skill."""
    write(folder / "report.json", [eval_skills_report()])
    write(folder / "units.json", UNITS_BENCHMARK)
    write(folder / "skills" / "units" / "skill.json", MANIFEST)
    options = ("--benchmark", "units.json", "--skills", "skills", "--name", "theirs")
    done = run("import", "report.json", *options, "--json")
    assert done.code == 0, done.err
    (first,) = done.document["runs"]
    assert done.document["format"] == "eval-skills"
    assert first["counts"]["by_status"] == {"completed": 2, "skill_error": 1}
    assert first["run_dir"].startswith("outputs/theirs/20261101T080000Z-")
    selected = run("select", "--from", "skills", "--json")
    assert selected.code == 0, selected.err
    scored = run("score", first["run_dir"], "scorer=[contains,task]", "--json")
    assert scored.code == 0, scored.err
    assert {row["scorer"] for row in scored.document["summary"]} == {"contains", "task"}


def test_an_imported_workspace_is_shown_and_converted(run: Run, folder: Path) -> None:
    """The newest iteration becomes a run with both arms; its report says where it comes from."""
    agent_skills_eval(folder / "w" / "iteration-1")
    done = run("import", "w")
    assert done.code == 0, done.err
    assert "evals: 6 trials of 3 tasks (6 completed)" in done.out
    assert "Next:  skilleval report show outputs/imported/" in done.out
    assert "gives the input files to the arm with the skill only" in done.err
    assert "tide" in run("report", "show", "latest").out
    written = run("report", "convert", "--input", "latest", "--format", "html", "--json")
    assert "imported from w" in (folder / written.document["reports"]["html"]).read_text()


def test_what_cannot_be_imported_is_one_error(run: Run, folder: Path) -> None:
    """An empty workspace is never exit 0, and a role that does not exist is told with those that do."""
    (folder / "csv-workspace" / "iteration-1").mkdir(parents=True)
    done = run("import", "csv-workspace", "--json")
    assert done.code == 2
    assert done.document["problems"][0]["found"] == "no attempt"
    refused = run("import", "csv-workspace", "--mode", "main=better")
    assert refused.code == 2
    assert "with_skill, without_skill, old_skill, direct" in refused.err
