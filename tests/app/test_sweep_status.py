"""Looking how far a sweep is takes a moment, and says what to do next."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from skilleval.app.sweep_status import sweep_status
from skilleval.results.sweeps import SCHEMA, job_key, write_job, write_sweep

N_JOBS = 3


def test_the_status_of_jobs_that_are_through_loads_no_table_engine(tmp_path: Path) -> None:
    """What the jobs came to stands in their own files: neither Polars nor Arrow nor Hydra is imported."""
    keys = [job_key([f"runner.seed={number}"]) for number in range(N_JOBS)]
    planned = [
        {"job": number, "key": key, "overrides": [], "settings": {}} for number, key in enumerate(keys)
    ]
    write_sweep(tmp_path, {"schema": SCHEMA, "sweep_id": "s", "jobs": planned, "is_planned": True})
    for number, key in enumerate(keys):
        ended = {"state": "done", "exit_code": 0, "trials": {"planned": 1, "done": 1}}
        write_job(tmp_path, key, {"job": number, **ended})
    program = (
        "import json, sys\nfrom pathlib import Path\nfrom skilleval.app.sweep_status import sweep_status\n"
        f"said = sweep_status(Path({str(tmp_path)!r}))\n"
        "print(json.dumps([said['by_state'], said['trials'], sorted(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    by_state, trials, loaded = json.loads(done.stdout)
    assert (by_state, trials) == ({"done": N_JOBS}, {"done": N_JOBS, "planned": N_JOBS})
    assert not {"polars", "pyarrow", "hydra", "pandera"} & set(loaded)


Ending = Mapping[str, Any]
DONE: Ending = {"state": "done", "exit_code": 0, "trials": {"planned": 1, "done": 1}}
REFUSED: Ending = {"state": "refused", "exit_code": 2, "error": "1 setting cannot be used"}
SPENT: Ending = {"state": "failed", "exit_code": 5}
BROKEN: Ending = {"state": "failed", "exit_code": 3}


def status(
    folder: Path, endings: Sequence[Ending | None], *, key: str = "a", n_shards: int = 1
) -> dict[str, Any]:
    """Give the status of a sweep whose jobs ended like this; null was never started."""
    jobs = []
    for number, ending in enumerate(endings):
        about = {"job": number, "key": job_key([f"{key}={number}"]), "settings": {key: str(number)}}
        jobs.append({**about, "overrides": [f"{key}={number}"]})
        if ending is not None:
            write_job(folder, str(about["key"]), {**about, **ending})
    whole = {
        "command": ["eval", "-m", f"{key}=0,1"],
        "config": {"plan": {"shards": n_shards}},
        "ended_at": "x",
    }
    write_sweep(folder, {"schema": SCHEMA, "sweep_id": "s", "jobs": jobs, "is_planned": True, **whole})
    return sweep_status(folder)


@pytest.mark.parametrize(
    ("endings", "advice"),
    [
        ((DONE, DONE), "skilleval sweep report PLACE --format html"),
        ((DONE, BROKEN), "skilleval sweep resume PLACE"),
        ((DONE, None), "skilleval sweep resume PLACE"),
        ((REFUSED, None), "skilleval sweep resume PLACE"),
        ((DONE, REFUSED), "skilleval sweep report PLACE --format html"),
        ((DONE, SPENT), "skilleval sweep report PLACE --format html"),
        ((REFUSED, REFUSED), "with other values: skilleval eval -m a=0,1"),
    ],
)
def test_going_on_is_advised_where_it_can_come_to_more(
    tmp_path: Path, endings: Sequence[Ending | None], advice: str
) -> None:
    """Not for settings that cannot be used or a budget that is spent: those need a new sweep, which is said."""
    facts = status(tmp_path, endings)
    assert facts["next"] == advice.replace("PLACE", str(tmp_path))
    final = [number for number, ending in enumerate(endings) if ending in (REFUSED, SPENT)]
    assert all(f"job {number}: a={number}" in facts["remark"] for number in final)
    assert (facts["remark"] is None) == (not final)


@pytest.mark.parametrize(
    ("endings", "advice"),
    [
        ((DONE, DONE), "skilleval merge PLACE --format html"),
        ((DONE, BROKEN), "skilleval sweep resume PLACE"),
    ],
)
def test_shards_are_joined(tmp_path: Path, endings: Sequence[Ending], advice: str) -> None:
    """A report of the sweep would hold parts of one plan against each other."""
    facts = status(tmp_path, endings, key="plan.shard", n_shards=2)
    assert facts["next"] == advice.replace("PLACE", str(tmp_path))


def test_shards_that_run_elsewhere_are_waited_for(tmp_path: Path) -> None:
    """A sweep over some of the shards alone is no whole yet."""
    facts = status(tmp_path, (DONE, DONE), key="plan.shard", n_shards=4)
    assert facts["next"] == f"once all 4 shards have run: skilleval merge {tmp_path} OTHERS... --format html"


def test_many_refused_jobs_are_named_by_the_first_ones(tmp_path: Path) -> None:
    """The table shows them all."""
    assert "job 2: a=2; and 2 more)" in status(tmp_path, [REFUSED] * 5)["remark"]
