from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

import pytest
from written_runs import contents, write_run

from skilleval.app.run_list import RunList, chosen
from skilleval.errors import ResultsError, UsageError
from skilleval.report.run_list import SHARDS_TOO, Asked, RunEntry, RunState
from skilleval.report.run_pages import runs_page
from skilleval.results.find import runs as stored


def listed(root: Path) -> dict[str, RunEntry]:
    """Give all runs by their keys."""
    return {entry.key: entry for entry in RunList(root).entries()}


@pytest.mark.parametrize(
    ("changes", "state", "reason"),
    [
        ({}, RunState.PASSED, ""),
        ({"config": {"gate": {"exit_on_fail": False}}}, RunState.FINISHED, ""),
        ({"config": {"gate": None}}, RunState.FINISHED, ""),
        ({"exit_code": 1}, RunState.FAILED, "the gate is not met"),
        ({"exit_code": 5}, RunState.FAILED, "the budget is spent"),
        ({"exit_code": 77}, RunState.FAILED, "exit code 77"),
        ({"exit_code": None}, RunState.FINISHED, ""),
        ({"exit_code": 130}, RunState.INTERRUPTED, "it was stopped before its end"),
        ({"interrupted": True}, RunState.INTERRUPTED, "it was stopped before its end"),
        ({"ended_at": None}, RunState.INTERRUPTED, "it never came to its end"),
    ],
)
def test_the_state_of_a_run_is_what_its_manifest_says(
    tmp_path: Path, changes: dict[str, Any], state: RunState, reason: str
) -> None:
    """Exit code, end and interruption make the state; what the state does not tell is said beside it."""
    write_run(tmp_path, "a/run", **changes)
    entry = listed(tmp_path)["a/run"]
    assert (entry.state, entry.reason) == (state, reason)


def test_a_run_that_a_process_writes_is_running(tmp_path: Path) -> None:
    """Whoever holds the lock of a run that has no tables yet is writing it; asking takes nothing from them."""
    folder = write_run(tmp_path, "run", ended_at=None)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert listed(tmp_path)["run"].state is RunState.RUNNING
    assert listed(tmp_path)["run"].state is RunState.INTERRUPTED


def test_runs_lie_up_to_two_folders_deep_newest_first(tmp_path: Path) -> None:
    """Where every command looks: in the root, and in a folder of it; deeper ones are not runs of this root."""
    for hour, key in enumerate(("one", "a/two", "a/b/three")):
        write_run(tmp_path, key, started_at=f"2026-11-02T1{hour}:00:00+00:00")
    assert [entry.key for entry in RunList(tmp_path).entries()] == ["a/two", "one"]
    assert {folder.name for folder in stored(tmp_path)} == {"two", "one"}


def test_a_folder_that_is_a_run_itself_is_listed(tmp_path: Path) -> None:
    """The root may be the folder of one run."""
    write_run(tmp_path, ".")
    assert [entry.key for entry in RunList(tmp_path).entries()] == ["."]


def test_what_cannot_be_read_is_listed_with_the_reason(tmp_path: Path) -> None:
    """Half a manifest, one of another kind, one that is nested without end, a folder in its place, rows alone."""
    for name, text in {"half": '{"run_id": ', "other": "[1]", "deep": "[" * 100_000, "new": None}.items():
        folder = write_run(tmp_path, name, schema_version="99")
        if text is not None:
            (folder / "manifest.json").write_text(text)
    (tmp_path / "folder" / "manifest.json").mkdir(parents=True)
    (tmp_path / "rows" / "trials").mkdir(parents=True)
    (tmp_path / "rows" / "trials" / "part-00000.parquet").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "manifest.json")
    found = listed(tmp_path)
    assert {entry.state for entry in found.values()} == {RunState.UNREADABLE}
    reasons = {
        "half": "manifest.json cannot be read",
        "other": "no manifest of a run",
        "deep": "nested too deeply",
        "new": "schema version 99",
        "folder": "is no file",
        "rows": "it has rows, but no manifest.json",
        "pipe": "is no file",
    }
    assert {key: reasons[key] in entry.reason for key, entry in found.items()} == dict.fromkeys(reasons, True)


def test_values_of_a_wrong_kind_are_not_known(tmp_path: Path) -> None:
    """A manifest of odd values is listed with what can be made of it, never with a made-up value."""
    odd = {
        "benchmark": [],
        "skills": 3,
        "scorers": None,
        "counts": "many",
        "started_at": 7,
        "n_planned": True,
    }
    entry = listed_with(tmp_path, odd | {"experiment": "x" * 100_000})
    assert (entry.benchmark_id, entry.skills, entry.scorers) == ("", (), ())
    assert (entry.n_trials, entry.n_planned, entry.started_at) == (None, None, None)
    assert len(entry.experiment) == 300


def listed_with(root: Path, changes: dict[str, Any]) -> RunEntry:
    """Give the entry of a run with these changes."""
    write_run(root, "run", **changes)
    return listed(root)["run"]


def test_links_that_lead_out_of_the_folder_are_named_and_not_followed(tmp_path: Path) -> None:
    """A run elsewhere, or a manifest elsewhere, is not shown; inside the folder links are fine."""
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    secret = write_run(elsewhere, "secret", experiment="SECRET")
    inside = write_run(root, "inside")
    (root / "linked").symlink_to(secret)
    (root / "again").symlink_to(inside)
    (root / "taken").mkdir()
    (root / "taken" / "manifest.json").symlink_to(secret / "manifest.json")
    found = listed(root)
    assert {key for key, entry in found.items() if entry.is_readable} == {"inside", "again"}
    assert "leads out of the folder" in found["linked"].reason
    assert "leads out of the folder" in found["taken"].reason
    assert not any("SECRET" in str(entry) for entry in found.values())


def test_keys_are_compared_and_never_joined(tmp_path: Path) -> None:
    """No key leads out of the root: what is not in the list is not there."""
    root = tmp_path / "root"
    write_run(root, "run")
    write_run(tmp_path, "outside")
    runs = RunList(root)
    assert runs.folder(runs.entry("run")) == root / "run"
    for key in ("../outside", "run/../../outside", str(tmp_path / "outside"), "", "run\0", "x" * 100_000):
        with pytest.raises(ResultsError, match="no run"):
            runs.entry(key)


def test_a_changed_manifest_is_read_again(tmp_path: Path) -> None:
    """What is kept of a manifest lasts only as long as the file stays as it is."""
    write_run(tmp_path, "run")
    runs = RunList(tmp_path)
    assert runs.entries()[0].state is RunState.PASSED
    write_run(tmp_path, "run", exit_code=1, experiment="another")
    assert runs.entries()[0].state is RunState.FAILED
    write_run(tmp_path, "new")
    assert {entry.key for entry in runs.entries()} == {"run", "new"}


def test_looking_changes_nothing(tmp_path: Path) -> None:
    """Listing makes no file, no lock and no table."""
    folder = write_run(tmp_path, "run", ended_at=None)
    (folder / "journal-00000.jsonl").write_text("{}\n")
    before = contents(tmp_path)
    RunList(tmp_path).entries()
    assert contents(tmp_path) == before


def test_names_that_are_no_utf_8_are_spelled_out(tmp_path: Path) -> None:
    """A folder of odd bytes is listed, and found by the key it is listed with."""
    folder = tmp_path / os.fsdecode(b"run-\xff")
    write_run(folder.parent, folder.name, run_id="run")
    runs = RunList(tmp_path)
    (entry,) = runs.entries()
    assert entry.key == "run-\\xff"
    assert runs.folder(runs.entry(entry.key)) == folder


@pytest.fixture
def some(tmp_path: Path) -> list[RunEntry]:
    """Give three runs that differ in everything, and one that cannot be read."""
    write_run(tmp_path, "a", exit_code=1, counts={"trials": 3})
    write_run(
        tmp_path, "b", experiment="weekly", started_at="2026-11-03T00:00:00+00:00", scorers={"task": {}}
    )
    write_run(
        tmp_path,
        "c",
        benchmark={"id": "maths", "version": "2"},
        skills=[{"id": "abacus"}, {"id": "calendar"}],
        started_at="2026-11-04T09:00:00+00:00",
        counts={"trials": 100},
    )
    write_run(tmp_path, "d", schema_version="99")
    return RunList(tmp_path).entries()


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        (Asked(), "cbad"),
        (Asked(q="ABACUS maths"), "c"),
        (Asked(q="gate"), "a"),
        (Asked(benchmark="dates"), "ba"),
        (Asked(skill="calendar", scorer="exact"), "ca"),
        (Asked(experiment="weekly"), "b"),
        (Asked(state="unreadable"), "d"),
        (Asked(since="2026-11-03"), "cb"),
        (Asked(until="2026-11-03"), "ba"),
        (Asked(since="2026-11-03", until="2026-11-03"), "b"),
        (Asked(sort="trials"), "abcd"),
        (Asked(sort="-trials"), "cbad"),
        (Asked(sort="skills"), "cabd"),
        (Asked(q="calendar", sort="run"), "abc"),
    ],
)
def test_runs_are_chosen_and_ordered(some: list[RunEntry], asked: Asked, keys: str) -> None:
    """Words are looked for everywhere, filters hold together, and what is not known comes last either way."""
    assert "".join(entry.key for entry in chosen(some, asked)) == keys


def test_shards_are_listed_on_request_alone(tmp_path: Path) -> None:
    """They are parts of runs; the page says how many are left out, and links to the list that has them."""
    write_run(tmp_path, "whole")
    for shard in range(2):
        write_run(tmp_path, f"s{shard}", plan={"shards": 2, "shard": shard})
    runs = RunList(tmp_path)
    usual, all_of_them = Asked(), Asked(shards=SHARDS_TOO)
    assert [entry.key for entry in chosen(runs.entries(), usual)] == ["whole"]
    assert [entry.shard for entry in chosen(runs.entries(), all_of_them)] == [None, 1, 0]
    assert runs.entry("s0").shard == 0
    page = runs_page(chosen(runs.entries(), usual), usual, runs.entries(), place="out")
    assert "2 shards of runs are left out" in page
    assert 'href="/?shards=listed"' in page
    assert "1 run<" in page
    page = runs_page(chosen(runs.entries(), all_of_them), all_of_them, runs.entries(), place="out")
    assert "left out" not in page
    assert "shard 1" in page


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked(sort="beauty"), "sort: expected one of started"),
        (Asked(state="passd"), "passed"),
        (Asked(since="2026-13-01"), "since: expected a day such as 2026-01-31"),
        (Asked(until="yesterday"), "until: expected a day"),
        (Asked(shards="yes"), "shards: expected one of listed"),
    ],
)
def test_impossible_wishes_are_told(some: list[RunEntry], asked: Asked, said: str) -> None:
    """An unknown order or state and a date that is none are mistakes, not an empty list."""
    with pytest.raises(UsageError) as caught:
        chosen(some, asked)
    assert said in str(caught.value)


def test_a_folder_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    """Serving nothing is said at once."""
    with pytest.raises(ResultsError, match="there is no folder"):
        RunList(tmp_path / "nowhere")
