from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from object_store.conftest import SECRET, Machines, environment
from recorded_runs import DOWN, RIGHT, WRONG, Workload, write_workload

from skilleval.app.evaluate import Outcome, carry_on, evaluate
from skilleval.app.opening import open_run
from skilleval.app.pushing import push
from skilleval.app.resume import find_stored
from skilleval.app.scoring import prepare_scoring
from skilleval.clock import Clock
from skilleval.errors import ResultsError, UsageError, WriteError
from skilleval.results.find import find_run, runs
from skilleval.results.schema import TRIALS
from skilleval.results.store import read_manifest, scan_table, write_manifest

pytestmark = pytest.mark.s3


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    """Give two tasks; the second one fails."""
    place = tmp_path / "work"
    place.mkdir()
    return write_workload(place, {"one": RIGHT, "two": WRONG})


def evaluated(workload: Workload, machines: Machines, *overrides: str) -> Outcome:
    """Evaluate with results on the object store."""
    prepared = workload.prepared(f"paths.output_dir={machines.place}", *overrides)
    return evaluate(prepared, observe=lambda _: None)


def statuses(folder: Path) -> dict[str, str]:
    """Give the status of each task of a run."""
    return dict(scan_table(folder, TRIALS).select("task_id", "status").collect().iter_rows())


def test_a_run_is_read_where_it_was_not_made(workload: Workload, machines: Machines) -> None:
    """Another machine finds the run by its place alone, and reads the same rows."""
    made = evaluated(workload, machines).folder
    rows = scan_table(made, TRIALS).collect()
    machines.on("b")
    found = find_run("latest", Path(machines.place))
    assert found != made
    assert found.name == made.name
    assert scan_table(found, TRIALS).collect().equals(rows)
    assert find_run(f"{machines.place}/{made.name}", Path("nowhere")) == found


def test_the_manifest_is_put_last_and_lists_everything(workload: Workload, machines: Machines) -> None:
    """Each object is put once, the manifest after all that it lists."""
    made = evaluated(workload, machines).folder
    puts = machines.store.gate.puts()
    assert len(set(puts)) == len(puts)
    assert puts[-1].endswith(f"/{made.name}/manifest.json")
    listed = json.loads(machines.objects[f"study/{made.name}/manifest.json"])["objects"]
    assert {f"study/{made.name}/{one['object']}" for one in listed.values()} | {
        f"study/{made.name}/manifest.json"
    } == set(machines.objects)


def test_tables_have_their_ordinary_names(workload: Workload, machines: Machines) -> None:
    """Polars reads a table from the object store itself, without us."""
    made = evaluated(workload, machines).folder
    options = {"aws_endpoint_url": machines.store.url, "aws_allow_http": "true"}
    found = pl.scan_parquet(f"{machines.place}/{made.name}/trials/*.parquet", storage_options=options)
    assert sorted(found.select("task_id").collect()["task_id"]) == ["one", "two"]


def test_no_secret_is_written_down(workload: Workload, machines: Machines) -> None:
    """Neither object nor file holds a credential."""
    evaluated(workload, machines)
    files = [path.read_bytes() for path in machines.folder.rglob("*") if path.is_file()]
    assert len(files) > len(machines.objects) > 0
    assert not any(SECRET.encode() in content for content in [*files, *machines.objects.values()])


def test_what_was_cut_off_is_no_run_until_it_is_complete(workload: Workload, machines: Machines) -> None:
    """After half of the objects there is no run; sending again puts only the other half."""
    gate = machines.store.gate
    gate.refuses_after = 2
    with pytest.raises(WriteError, match="skilleval push") as refused:
        evaluated(workload, machines)
    assert SECRET not in str(refused.value)
    first = set(machines.objects)
    assert len(first) == 2
    machines.on("b")
    with pytest.raises(ResultsError, match=f"no run is stored below {machines.place}"):
        find_run("latest", Path(machines.place))
    machines.on("a")
    gate.reset()
    (sent,) = push((), store=Path(machines.place), to=None)
    assert sent.n_objects == len(machines.objects) - len(first)
    assert not tuple(push((), store=Path(machines.place), to=None))
    machines.on("b")
    assert statuses(find_run("latest", Path(machines.place))) == {"one": "completed", "two": "completed"}


def test_a_process_that_is_killed_while_it_sends(workload: Workload, machines: Machines) -> None:
    """After kill -9 between two objects the run is complete on its machine, and `push` sends it from there."""
    gate = machines.store.gate
    gate.holds_after = 3
    arguments = [*workload.arguments, "--output-dir", machines.place]
    with subprocess.Popen(
        [sys.executable, "-m", "skilleval", "eval", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert gate.is_holding.wait(60)
        process.kill()
    gate.reset()
    assert not [key for key in machines.objects if key.endswith("manifest.json")]
    (sent,) = push((), store=Path(machines.place), to=None)
    machines.on("b")
    assert read_manifest(find_run("latest", Path(machines.place)))["run_id"] == sent.folder.name


def test_a_run_is_gone_on_with_on_another_machine(workload: Workload, machines: Machines) -> None:
    """What the infrastructure broke runs elsewhere; nothing but the manifest is replaced, readers see one version."""
    workload.record({"one": RIGHT, "two": DOWN})
    evaluated(workload, machines)
    before = machines.objects
    workload.record({"one": RIGHT, "two": RIGHT})
    machines.on("b")
    prepared = workload.prepared(f"paths.output_dir={machines.place}")
    stored = find_stored("latest", Path(machines.place), to_write=True)
    with open_run(prepared, command=("eval",), clock=Clock(), stored=stored) as run:
        assert len(run.left.pending) == 1
        carry_on(prepared, run, observe=lambda _: None)
    after = machines.objects
    assert {key for key in before if after[key] != before[key]} == {
        f"study/{stored.folder.name}/manifest.json"
    }
    for name in ("a", "b", "c"):
        machines.on(name)
        assert statuses(find_run("latest", Path(machines.place))) == {"one": "completed", "two": "completed"}


def test_attempts_are_scored_where_they_were_not_made(workload: Workload, machines: Machines) -> None:
    """New scores become a run beside the old one, on the object store, and its settings name no folder of a machine."""
    evaluated(workload, machines)
    machines.on("b")
    scoring = prepare_scoring(
        "latest",
        ["scorer=contains"],
        store=Path(machines.place),
        project=machines.folder,
        allow_changed_benchmark=False,
    )
    scored = evaluate(scoring.prepared, observe=lambda _: None, past=scoring.past)
    machines.on("c")
    found = find_run("latest", Path(machines.place))
    assert (found.name, len(runs(Path(machines.place)))) == (scored.folder.name, 2)
    assert read_manifest(found)["config"]["paths"]["output_dir"] == machines.place


def test_the_second_of_two_writers_is_refused(workload: Workload, machines: Machines) -> None:
    """Who did not see the newest manifest does not replace it."""
    made = evaluated(workload, machines).folder
    machines.on("b")
    other = find_run("latest", Path(machines.place))
    write_manifest(other, {**read_manifest(other), "notices": ["by b"]})
    tuple(push((str(other),), store=Path(machines.place), to=None))
    machines.on("a")
    write_manifest(made, {**read_manifest(made), "notices": ["by a"]})
    with pytest.raises(ResultsError, match="written by another process"):
        tuple(push((str(made),), store=Path(machines.place), to=None))
    machines.on("c")
    assert read_manifest(find_run("latest", Path(machines.place)))["notices"] == ["by b"]


def test_a_run_of_a_folder_is_copied(workload: Workload, machines: Machines) -> None:
    """`--to` copies an ordinary run, leaves it as it is, and has nothing to send the second time."""
    made = evaluate(workload.prepared(), observe=lambda _: None).folder
    before = (made / "manifest.json").read_bytes()
    counts = [
        one.n_objects for _ in range(2) for one in push((str(made),), store=made.parent, to=machines.place)
    ]
    assert counts == [len(machines.objects), 0]
    assert (made / "manifest.json").read_bytes() == before
    assert statuses(find_run(made.name, Path(machines.place))) == {"one": "completed", "two": "completed"}


def test_a_list_of_runs_fetches_manifests_once_and_no_table(workload: Workload, machines: Machines) -> None:
    """Runs are listed by their manifests; what is known is not fetched again, what is gone is not told."""
    made = evaluate(workload.prepared(), observe=lambda _: None).folder
    manifest = json.loads((made / "manifest.json").read_text(encoding="utf-8"))
    for number in range(120):
        body = json.dumps({**manifest, "run_id": f"20260101T000000Z-{number:06x}"}).encode()
        key = f"study/20260101T000000Z-{number:06x}/manifest.json"
        machines.store.client.put_object(Bucket=machines.bucket, Key=key, Body=body)
    gate = machines.store.gate
    assert len(runs(Path(machines.place))) == 120
    gate.requests = []
    assert len(runs(Path(machines.place))) == 120
    assert len(gate.requests) == 1
    machines.store.client.delete_object(Bucket=machines.bucket, Key=key)
    assert len(runs(Path(machines.place))) == 119


def test_an_object_that_was_changed_is_refused(workload: Workload, machines: Machines) -> None:
    """A table that is not what the manifest says is no table of the run."""
    made = evaluated(workload, machines).folder
    key = f"study/{made.name}/trials/part-00000.parquet"
    machines.store.client.put_object(Bucket=machines.bucket, Key=key, Body=b"something else")
    machines.on("b")
    with pytest.raises(ResultsError, match="its content has changed"):
        find_run("latest", Path(machines.place))


@pytest.mark.parametrize(
    ("changes", "place", "said"),
    [
        ({}, "s3://no-such-bucket/study", "there is no bucket no-such-bucket"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "s3://bucket/study", "cannot be reached at 127.0.0.1:9"),
        (
            {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None, "HOME": "/nonexistent"},
            "s3://bucket/study",
            "no credentials are known",
        ),
    ],
    ids=["bucket", "endpoint", "credentials"],
)
def test_a_place_that_cannot_be_used_is_told_before_anything_runs(
    changes: dict[str, str | None], place: str, said: str, workload: Workload, machines: Machines
) -> None:
    """No trial runs for results that could not be sent, and the error says what is wrong."""
    with environment(**changes), pytest.raises(ResultsError, match=said):
        workload.prepared(f"paths.output_dir={place}")
    assert not list(machines.folder.rglob("manifest.json"))


def test_reports_do_not_go_there_without_their_tables(workload: Workload, machines: Machines) -> None:
    """Tables in a folder and reports on an object store would be half a run there."""
    with pytest.raises(UsageError, match="need their tables"):
        workload.prepared(f"paths.output_dir={machines.place}", f"paths.store={machines.folder / 'tables'}")
