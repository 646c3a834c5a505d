"""Planning on paper: measure what things cost, simulate, check the simulation against real runs, write docs/scale.md.

Everything that was found stands in `results.json`, from which the tables are made. `--quick` measures little, prints
the tables and writes nothing; `--tables` only makes them anew from what was found before; `--check` says whether they
are current.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent.parent / "perf"))

from balance import balances
from cost_jobs import measured_jobs
from cost_queries import measured_queries
from cost_rows import measured_rows
from cost_trials import measured_trials
from fits import Estimate
from projection import Costs, projected, simulated_seconds
from scale_page import blocks, with_blocks
from validation import validated
from workloads import WORKLOADS

RESULTS = Path(__file__).parent / "results.json"
PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
SIMULATED_WORKERS = (1, 8, 64, 512)
PARTS = (measured_trials, measured_rows, measured_jobs, measured_queries)


def machine() -> dict[str, Any]:
    """Describe this machine without naming it."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(pages / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 1),
    }


def study(*, quick: bool) -> dict[str, Any]:
    """Measure, simulate and validate; give all that was found as JSON values."""
    begun: dict[str, Any] = {
        "measured_on": f"{datetime.now(UTC):%Y-%m-%d}",
        "is_quick": quick,
        "machine": machine(),
    }
    costs: dict[str, Estimate] = {}
    for part in PARTS:
        started = time.perf_counter()
        costs |= part(quick=quick)
        print(f"{part.__name__}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    checks = [asdict(one) | {"error": one.error} for one in validated(costs, quick=quick)]
    begun["machine"]["load_after"] = round(os.getloadavg()[0], 1)
    stored = {name: asdict(cost) for name, cost in costs.items()}
    return {**begun, "costs": stored, "checks": checks, **simulations(costs, quick=quick)}


def simulations(costs: Costs, *, quick: bool) -> dict[str, Any]:
    """Hold the closed form against the simulation, and compare the ways to cut a plan."""
    trials = 20_000 if quick else 1_000_000
    compared = []
    for workload in WORKLOADS:
        for workers in SIMULATED_WORKERS:
            found = simulated_seconds(workload, costs, trials, workers)
            form = projected(workload, costs, trials, workers).seconds
            compared.append(
                {
                    "workload": workload.name,
                    "trials": trials,
                    "workers": workers,
                    "simulated_s": found,
                    "form_s": form,
                }
            )
    cuts = [asdict(one) for one in balances(WORKLOADS[-1], trials=2_000 if quick else 20_000, workers=8)]
    return {"compared": compared, "cuts": cuts}


def read_costs(results: dict[str, Any]) -> dict[str, Estimate]:
    """Give the measured costs back as they were."""
    return {name: Estimate(**cost) for name, cost in results["costs"].items()}


def main() -> int:
    """Run what the command line asks for; give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--quick", action="store_true", help="measure little, print the tables, write nothing"
    )
    choice.add_argument("--tables", action="store_true", help="make the tables anew from the stored results")
    choice.add_argument("--check", action="store_true", help="exit 1 if the tables are not current")
    asked = parser.parse_args()
    if asked.quick:
        found = study(quick=True)
        print("\n\n".join(blocks(found, read_costs(found)).values()))
        return 0
    results = json.loads(RESULTS.read_text()) if asked.tables or asked.check else study(quick=False)
    if asked.tables:
        results |= simulations(read_costs(results), quick=False)
    page = with_blocks(PAGE.read_text(), blocks(results, read_costs(results)))
    if asked.check:
        return int(page != PAGE.read_text())
    RESULTS.write_text(json.dumps(results, indent=1, allow_nan=False) + "\n")
    PAGE.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
