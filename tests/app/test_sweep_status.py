"""Looking how far a sweep is takes a moment, however many jobs it has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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
