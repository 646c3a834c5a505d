"""What reads many runs, on a machine that knows them by the address of an object store alone."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from object_store.conftest import Machines
from recorded_runs import RIGHT, WRONG, write_workload
from served_runs import served

from skilleval.app.evaluate import evaluate
from skilleval.app.timeline import Wanted, timeline
from skilleval.cli.find import stored_at
from skilleval.results.find import runs

pytestmark = pytest.mark.s3


@pytest.fixture
def elsewhere(tmp_path: Path, machines: Machines) -> Machines:
    """Give another machine than the one that made two runs."""
    workload = write_workload(tmp_path, {"one": RIGHT, "two": WRONG})
    for _ in range(2):
        evaluate(workload.prepared(f"paths.output_dir={machines.place}"), observe=lambda _: None)
    machines.on("b")
    return machines


def test_the_page_over_all_runs_shows_those_of_an_object_store(elsewhere: Machines) -> None:
    """The list is under its address, each report is fetched when it is asked for, and so are the courses."""
    with served(Path(elsewhere.place)) as address, httpx.Client(base_url=address, timeout=60) as page:
        assert f"<bdi>{elsewhere.place}</bdi>" in page.get("/").text
        listed = [one["key"] for one in page.get("/runs.json").json()["runs"]]
        assert len(listed) == 2
        for key in listed:
            answer = page.get("/report", params={"run": key, "format": "json"})
            assert answer.json()["run"]["run_id"] == key
        assert page.get("/trends").status_code == 200
        gone = f"study/{listed[0]}/manifest.json"
        elsewhere.store.client.delete_object(Bucket=elsewhere.bucket, Key=gone)
        assert [one["key"] for one in page.get("/runs.json").json()["runs"]] == listed[1:]


def test_histories_are_told_of_the_runs_of_an_object_store(elsewhere: Machines) -> None:
    """`history`, `select` and `find` take the address as their store, whether it was listed before or not."""
    place = stored_at(elsewhere.place)
    (line,) = timeline(place, Wanted()).lines
    assert [point["value"] for point in line.points] == [0.5, 0.5]
    assert len(runs(place)) == 2
