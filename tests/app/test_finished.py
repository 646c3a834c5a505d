"""Which stored runs count in histories and selections."""

from __future__ import annotations

from pathlib import Path

from stored_runs import Runs, rewrite_manifest
from written_runs import write_run

from skilleval.app.diffing import earlier_run
from skilleval.app.finished import Uncounted, finished_runs
from skilleval.app.timeline import Wanted, timeline
from skilleval.results.find import runs


def counted(root: Path) -> tuple[list[str], tuple[str, ...]]:
    """Give the names of the runs that count, and what is said of the others."""
    uncounted = Uncounted()
    found = [folder.name for folder in finished_runs(runs(root), lambda _: True, uncounted)]
    return found, uncounted.notices()


def test_what_does_not_count_is_told_each_with_its_reason(tmp_path: Path) -> None:
    """A run without its end and a damaged one are named, shards are counted; whole runs that ended count."""
    write_run(tmp_path, "20260101T000000Z-aa")
    write_run(tmp_path, "20260102T000000Z-bb", interrupted=True)
    (write_run(tmp_path, "20260103T000000Z-cc") / "manifest.json").write_text("{")
    for shard in range(3):
        write_run(tmp_path, f"20260104T00000{shard}Z-dd", plan={"shards": 3, "shard": shard})
    found, (cut, damaged, shards) = counted(tmp_path)
    assert found == ["20260101T000000Z-aa"]
    assert cut == f"{tmp_path / '20260102T000000Z-bb'} does not count: the run did not come to its end"
    assert damaged.startswith(f"{tmp_path / '20260103T000000Z-cc'} does not count: ")
    assert shards == f"3 shards of runs are left out; join them: skilleval merge {tmp_path}"


def test_shards_that_were_joined_are_not_told(tmp_path: Path) -> None:
    """The run that was joined from them counts for them; a shard of another plan still waits."""
    for shard in range(2):
        write_run(tmp_path, f"s{shard}", plan={"shards": 2, "shard": shard})
    write_run(tmp_path, "t0", plan={"shards": 2, "shard": 0})
    write_run(tmp_path, "whole", merged_from=[{"run_id": "s0"}, {"run_id": "s1"}])
    found, (notice,) = counted(tmp_path)
    assert found == ["whole"]
    assert notice.startswith("1 shard of a run is left out; join them: ")


def test_a_shard_has_no_place_among_the_runs_of_a_skill(tmp_path: Path) -> None:
    """It is neither a point of the history nor the previous run of a later one."""
    made = Runs(tmp_path)
    first, shard, last = (made.run() for _ in range(3))
    for second, folder in enumerate((first, shard, last)):
        place = folder.with_name(f"2026010{second + 1}T000000Z-{second}")
        folder.rename(place)
        rewrite_manifest(place, run_id=place.name)
    rewrite_manifest(made.store / "20260102T000000Z-1", plan={"shards": 2, "shard": 0})
    found = timeline(made.store, Wanted())
    assert [point["run_id"] for point in found.lines[0].points] == [
        "20260101T000000Z-0",
        "20260103T000000Z-2",
    ]
    assert len(found.notices) == 1
    assert earlier_run(made.store / "20260103T000000Z-2", made.store).name == "20260101T000000Z-0"
