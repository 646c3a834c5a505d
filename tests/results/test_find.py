"""Which stored run `latest` is: a shard is a part of a run, and reachable by its id alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_runs import write_run

from skilleval.errors import ResultsError
from skilleval.results.find import find_run

WHOLE = "20260101T000000Z-aa"


def write_shards(root: Path, n: int, **changes: str) -> list[Path]:
    """Write the manifests of all shards of a plan, a second apart."""
    return [
        write_run(root, f"20260102T00000{shard}Z-{shard}", plan={"shards": n, "shard": shard}, **changes)
        for shard in range(n)
    ]


def test_latest_is_a_whole_run_and_says_what_it_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Newer shards are counted once, however often one looks, with the command that joins them."""
    write_run(tmp_path, WHOLE)
    shards = write_shards(tmp_path, 2)
    assert [find_run("latest", tmp_path).name for _ in range(2)] == [WHOLE, WHOLE]
    (said,) = caplog.messages
    assert (
        said == f"2 shards of runs are left out: `latest` is {WHOLE}; join them: skilleval merge {tmp_path}"
    )
    assert find_run(shards[0].name, tmp_path) == shards[0]
    assert find_run("latest", tmp_path, with_shards=True) == shards[1]


def test_older_shards_are_not_worth_a_word(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """After they were joined the newest run is a whole one."""
    write_shards(tmp_path, 2)
    write_run(tmp_path, "20270101T000000Z-aa")
    assert find_run("latest", tmp_path).name == "20270101T000000Z-aa"
    assert not caplog.messages


def test_shards_alone_are_no_latest_run(tmp_path: Path) -> None:
    """It is told how they become one: by the sweep that they are jobs of."""
    sweep = tmp_path / "20260102T000000Z-5w"
    sweep.mkdir()
    write_shards(tmp_path, 2, sweep_id=sweep.name)
    with pytest.raises(ResultsError, match="no whole run is stored") as caught:
        find_run("latest", tmp_path)
    assert caught.value.hint == f"join them: skilleval merge {sweep}; or name a shard by its id"


def test_a_damaged_manifest_is_the_latest_run_and_no_shard(tmp_path: Path) -> None:
    """Who reads it tells what is wrong; it is not passed over in silence."""
    write_run(tmp_path, WHOLE)
    damaged = write_run(tmp_path, "20270101T000000Z-bb", plan=["shards"])
    assert find_run("latest", tmp_path) == damaged
    (damaged / "manifest.json").write_text("{")
    assert find_run("latest", tmp_path) == damaged
