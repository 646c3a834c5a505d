"""How the end of a sweep is told, as a user runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cli.conftest import Run

RIGHT = {"output": 1}
Replayed = Callable[[Mapping[str, Any]], list[str]]


def test_a_sweep_ends_with_one_table_of_all_its_results(run: Run, replayed: Replayed) -> None:
    """A row a job and skill: overrides, completion, trials judged, verdict; and the id of the sweep."""
    arguments = replayed({"t1": RIGHT, "t2": {"output": "it is 1"}})
    done = run("eval", "-m", *arguments, "scorer=exact,contains")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert "exit 0: INCONCLUSIVE " in done.out
    heading = next(index for index, line in enumerate(lines) if line.startswith("sweep "))
    assert lines[heading + 1].split("\t") == [
        "job", "overrides", "skill", "scorer", "completion", "graded", "verdict", "exit",
    ]  # fmt: skip
    first, second = (line.split("\t") for line in lines[heading + 2 : heading + 4])
    assert lines[heading + 4] == ""
    (place,) = done.folder.glob("outputs/default/*/sweep.json")
    assert lines[heading + 5 :] == [f"next: skilleval sweep report {place.parent} --format html"]
    assert (first[0], first[2], first[3], first[4].split()[0]) == ("0", "recorded 1.0.0", "exact", "0.5")
    assert (second[0], second[3], second[4].split()[0], second[5]) == ("1", "contains", "1", "2")
    assert {first[6], second[6]} == {"INCONCLUSIVE"}
    assert (first[1], second[1]) == ("scorer=exact", "scorer=contains")


def test_the_document_of_a_sweep_compares_its_jobs(run: Run, replayed: Replayed) -> None:
    """--json holds the sweep's id and the same rows; a job that failed has one without figures."""
    done = run("eval", "-m", *replayed({"t1": RIGHT, "t2": RIGHT}), "report.formats=[json],[nope]", "--json")
    document = done.document
    assert document["sweep_id"] == document["runs"][0]["sweep_id"] is not None
    good, bad = document["comparison"]
    assert (good["job"], good["skill_id"], good["completion_rate"], good["state"]) == (
        0,
        "recorded",
        1.0,
        "inconclusive",
    )
    assert (bad["job"], bad["exit_code"], bad["completion_rate"], bad["state"]) == (1, 2, None, None)


def test_a_dry_sweep_has_nothing_to_compare(run: Run, replayed: Replayed) -> None:
    """Nothing ran, so that there is no table."""
    done = run("eval", "-m", *replayed({"t1": RIGHT}), "scorer=exact,contains", "--dry-run")
    assert done.code == 0, done.err
    assert "sweep " not in done.out
    assert "all valid" in done.out


def test_the_names_of_options_are_forgiving(run: Run, replayed: Replayed) -> None:
    """`--repeats` and its older name `--runs` are one option; `md` is Markdown."""
    arguments = replayed({"t1": RIGHT, "t2": RIGHT})
    for option in ("--repeats", "--runs"):
        assert run("eval", *arguments, option, "3", "--dry-run", "--json").document["repeats"] == 3
    done = run("eval", *arguments, "--format", "md", "--json")
    assert list(done.document["reports"]) == ["markdown"]
    assert "--repeats" in run("eval", "--help").out


def test_a_sweep_of_no_value_is_refused(folder: Path, run: Run, replayed: Replayed) -> None:
    """A range or a pattern that nothing fits makes no job: that is a mistake, and leaves nothing behind."""
    arguments = replayed({"t1": RIGHT})
    for swept in ("runner.seed=range(0)", "scorer=glob(nope*)"):
        refused = run("eval", "-m", *arguments, swept)
        assert (refused.code, refused.out) == (2, "")
        assert f"{swept}: expected at least one value, found none" in refused.err
    assert not list(folder.glob("outputs/*/*"))


def test_a_job_that_fails_is_told_at_once_and_not_advised_to_go_on(run: Run, replayed: Replayed) -> None:
    """A line on stderr before the next job begins; status says that settings must be other ones, with the report."""
    swept = run("eval", "-m", *replayed({"t1": RIGHT, "t2": RIGHT}), "runner.repeats=x,1")
    assert swept.code == 2
    told = swept.err.index(
        "warning: [1/2] runner.repeats=x failed, exit 2: 1 setting cannot be used: command line: "
    )
    assert told < swept.err.index("[2/2] runner.repeats=1: ")
    status = run("sweep", "status")
    assert "1 setting cannot be used: command line: " in status.out
    for text in (swept.out, status.out):
        assert "2 jobs: 1 done, 1 refused; " in text
        assert "start a new sweep with other values (job 0: runner.repeats=x)" in text
        assert "next: skilleval sweep report " in text
        assert "sweep resume" not in text


def test_a_sweep_of_which_no_job_can_work_is_to_be_started_with_other_values(
    run: Run, replayed: Replayed
) -> None:
    """Exit 2; the command to change is shown, and going on is not advised."""
    swept = run("eval", "-m", *replayed({"t1": RIGHT}), "runner.repeats=x,y", "--json")
    assert swept.code == 2
    assert [job["state"] for job in swept.document["runs"]] == ["refused", "refused"]
    assert swept.document["next"].startswith("with other values: skilleval eval -m ")
    assert "job 0: runner.repeats=x; job 1: runner.repeats=y" in swept.document["remark"]


def test_a_file_that_is_not_there_yet_is_worth_going_on_for(run: Run, replayed: Replayed) -> None:
    """The settings are right, so that the job may work the next time."""
    arguments = [one for one in replayed({"t1": RIGHT}) if "adapter.path" not in one]
    swept = run("eval", "-m", *arguments, "adapter.path=later.jsonl", "--json")
    assert (swept.code, swept.document["remark"]) == (2, None)
    assert swept.document["next"] == f"skilleval sweep resume {swept.document['sweep_dir']}"


def test_what_one_job_changed_is_told_where_it_is_the_only_one(run: Run, replayed: Replayed) -> None:
    """The table names its setting although nothing else is there to tell it from."""
    swept = run("eval", "-m", *replayed({"t1": RIGHT, "t2": RIGHT}), "runner.seed=range(7,8)")
    assert swept.code == 0, swept.err
    assert "sweeping 1 job: runner.seed=7" in swept.err
    assert "0\trunner.seed=7\trecorded 1.0.0" in swept.out


def test_a_place_that_cannot_be_written_is_told(folder: Path, run: Run, replayed: Replayed) -> None:
    """A sweep that can keep no books does not begin: exit 3, with what is in the way and what to do."""
    (folder / "file").touch()
    refused = run("eval", "-m", *replayed({"t1": RIGHT}), "runner.seed=1,2", "--output-dir", "file/out")
    assert (refused.code, refused.out) == (3, "")
    assert "cannot make" in refused.err
    assert "--output-dir DIR" in refused.err
