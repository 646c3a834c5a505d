"""`skilleval cache`: what the index holds, and forgetting parts of it without losing a result."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from records import DONE, written
from small_skills import Said, said

from skilleval.results.cache import Circumstances, write_index
from skilleval.results.store import write_manifest

_ALONE = Circumstances(sweep_id=None, retries=0, runner="settings")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Give an index of two runs: one of long ago, and one of today that is gone."""
    for run_id, age in (("old", timedelta(days=40)), ("gone", timedelta())):
        folder = written(tmp_path, [[DONE]], run_id=run_id, adapter="subprocess")
        write_manifest(folder, {"run_id": run_id, "config": {}, "benchmark": {}, "n_planned": 1})
        write_index(tmp_path / "cache", folder, _ALONE, now=datetime.now(tz=UTC) - age)
    shutil.rmtree(tmp_path / "gone")
    return tmp_path / "cache"


def pruned(cache: Path, *arguments: str) -> Said:
    """Prune the index."""
    return said("cache", "prune", "--cache-dir", cache, *arguments, "--json")


def test_stats_count_runs_and_attempts(cache: Path) -> None:
    """For people and as JSON."""
    document = said("cache", "stats", "--cache-dir", cache, "--json").document
    assert (document["n_runs"], document["n_gone"], document["n_attempts"], document["n_calls"]) == (
        2,
        1,
        2,
        1,
    )
    shown = said("cache", "stats", "--cache-dir", cache).out
    assert "2 (1 of them gone)" in shown
    assert "adder: 2" in shown


@pytest.mark.parametrize(
    ("arguments", "forgotten"),
    [
        (["--gone"], {"gone"}),
        (["--older-than", "30d"], {"old"}),
        (["--older-than", "60d"], set()),
        (["--older-than", "30d", "--gone"], {"old", "gone"}),
    ],
)
def test_prune_forgets_what_meets_a_condition(cache: Path, arguments: list[str], forgotten: set[str]) -> None:
    """The rest of the index stays, and so does every run."""
    done = pruned(cache, *arguments)
    assert set(done.document["forgotten"]) == forgotten
    left = {path.stem for path in (cache / "attempts").iterdir()}
    assert left == {"old", "gone"} - forgotten
    assert (cache.parent / "old" / "manifest.json").is_file()


def test_a_dry_run_forgets_nothing(cache: Path) -> None:
    """It names what would be forgotten."""
    assert pruned(cache, "--gone", "--dry-run").document["forgotten"] == ["gone"]
    assert len(list((cache / "attempts").iterdir())) == 2
    shown = said("cache", "prune", "--cache-dir", cache, "--gone", "--dry-run").out
    assert "1 of 2 index entries would be forgotten; results are not touched." in shown


@pytest.mark.parametrize(
    "arguments", [[], ["--older-than", "soon"], ["--older-than", "30"], ["--older-than", "-1d"]]
)
def test_a_condition_is_needed_and_must_be_one(cache: Path, arguments: list[str]) -> None:
    """Nothing is forgotten by accident."""
    assert pruned(cache, *arguments).code == 2
    assert len(list((cache / "attempts").iterdir())) == 2
