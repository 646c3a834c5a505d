"""What a folder of runs stands for, where runs are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_runs import write_run

from skilleval.app.named_runs import named_runs
from skilleval.errors import ResultsError


def test_a_folder_stands_for_the_whole_runs_in_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing counts twice: neither the shards of a run, nor a whole run that was joined into another."""
    for shard in range(2):
        write_run(tmp_path, f"s{shard}", plan={"shards": 2, "shard": shard})
    write_run(tmp_path, "whole", merged_from=[{"run_id": "s0"}, {"run_id": "s1"}])
    write_run(tmp_path, "part")
    write_run(tmp_path, "sum", merged_from=[{"run_id": "part"}])
    write_run(tmp_path, "cut", interrupted=True)
    assert set(named_runs([str(tmp_path)], tmp_path)) == {str(tmp_path / name) for name in ("whole", "sum")}
    assert caplog.messages == [f"{tmp_path / 'cut'} does not count: the run did not come to its end"]


def test_a_run_stays_what_it_is(tmp_path: Path) -> None:
    """By its folder, by a part of its id, as `latest`; a name that fits nothing is told by who looks for it."""
    folder = write_run(tmp_path, "run")
    names = (str(folder), "run", "latest", "nothing")
    assert named_runs(names, tmp_path) == names


def test_shards_that_nobody_joined_are_no_runs(tmp_path: Path) -> None:
    """A folder that holds nothing else is refused, with the command that makes a run of them."""
    write_run(tmp_path, "s0", plan={"shards": 2, "shard": 0})
    with pytest.raises(ResultsError, match="no whole run that came to its end") as caught:
        named_runs([str(tmp_path)], tmp_path)
    assert caught.value.hint.endswith(f"join them: skilleval merge {tmp_path}")
