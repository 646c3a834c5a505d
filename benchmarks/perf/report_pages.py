"""The HTML report and the notebook of stored runs, beside what any page of that content must do: read, dump, pack.

Each size runs in a process of its own, so that its peak memory is its own. Imports and the chart library, which do not
grow with a run, are loaded before the clock starts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from report_runs import write_report_run
from rows import Row

SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (1_000, 10_000)
MOST_S = {1_000: 2.0, 100_000: 20.0}
MOST_MB = 1024.0
MOST_BYTES_A_TRIAL, FIXED_BYTES = 1024, 3 * 1024**2
MOST_NOTEBOOK_S = 1.0

PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
import reporting
print(json.dumps(getattr(reporting, sys.argv[2])(sys.argv[3])))
"""


def rows(*, quick: bool) -> list[Row]:
    """Measure runs that grow tenfold."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for n in QUICK_SIZES if quick else SIZES:
            run = write_report_run(Path(folder) / str(n), n)
            floor = _measured("floor", run)
            found += [*_page(n, _measured("page", run), floor)]
            if n == SIZES[0]:
                found.append(_notebook(n, _measured("notebook", run)))
    return found


def _measured(function: str, run: Path) -> dict[str, float]:
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), function, str(run)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _page(n: int, page: dict[str, float], floor: dict[str, float]) -> list[Row]:
    most_s, most_bytes = MOST_S.get(n), FIXED_BYTES + MOST_BYTES_A_TRIAL * n
    return [
        Row(
            what=f"HTML report of {n:,} trials",
            value=f"{page['s']:.2f} s, {page['mb']:.0f} MB",
            floor=f"read, dump and pack {floor['s']:.2f} s",
            ratio=page["s"] / floor["s"],
            goal="none: told" if most_s is None else f"≤ {most_s:g} s, ≤ {MOST_MB:g} MB",
            met=most_s is None or (page["s"] <= most_s and page["mb"] <= MOST_MB),
        ),
        Row(
            what=f"size of the HTML report of {n:,} trials",
            value=f"{page['bytes'] / 1024**2:.2f} MB",
            floor=f"limit {most_bytes / 1024**2:.2f} MB",
            ratio=page["bytes"] / most_bytes,
            goal="≤ 3 MB and 1 KB a trial",
            met=page["bytes"] <= most_bytes,
        ),
    ]


def _notebook(n: int, made: dict[str, float]) -> Row:
    return Row(
        what=f"notebook of {n:,} trials, not executed",
        value=f"{made['s']:.3f} s",
        floor=f"limit {MOST_NOTEBOOK_S:g} s",
        ratio=made["s"] / MOST_NOTEBOOK_S,
        goal="≤ 1 s",
        met=made["s"] <= MOST_NOTEBOOK_S,
    )
