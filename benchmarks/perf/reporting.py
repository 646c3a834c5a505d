"""What is measured of a report, each in a process of its own: the page, the notebook, and the floor."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import polars as pl
from memory import resident_mb

TEXTS = ("output", "stderr")


def page(run: str) -> dict[str, float]:
    """Read a run and write its page. A first page of a run without rows loads what every page needs."""
    from skilleval.app.analyse import analyse
    from skilleval.report import WRITERS

    _warm(Path(run))
    started = time.perf_counter()
    text = WRITERS["html"].render(analyse(Path(run)))
    took = time.perf_counter() - started
    return {"s": took, "mb": resident_mb()[1], "bytes": len(text.encode())}


def notebook(run: str) -> dict[str, float]:
    """Read a run and write its notebook, not executed, when all modules are loaded."""
    from skilleval.app.analyse import analyse
    from skilleval.report import WRITERS

    WRITERS["notebook"].render(analyse(Path(run)))
    started = time.perf_counter()
    text = WRITERS["notebook"].render(analyse(Path(run)))
    return {"s": time.perf_counter() - started, "mb": resident_mb()[1], "bytes": len(text.encode())}


def _warm(run: Path) -> None:
    """Load modules and the chart library by the page of a run with few of the rows."""
    import shutil
    import tempfile

    from skilleval.app.analyse import analyse
    from skilleval.report import WRITERS

    with tempfile.TemporaryDirectory() as folder:
        small = Path(shutil.copytree(run, Path(folder) / "run"))
        for table in ("trials", "scores"):
            for path in (small / table).glob("*.parquet"):
                pl.read_parquet(path, n_rows=25).write_parquet(path)
        WRITERS["html"].render(analyse(small))


def floor(run: str) -> dict[str, float]:
    """Do the least that a page with these texts needs: read both tables, dump what is shown, pack it."""
    started = time.perf_counter()
    trials = pl.read_parquet(f"{run}/trials/*.parquet").with_columns(pl.col(TEXTS).str.slice(0, 1000))
    scores = pl.read_parquet(f"{run}/scores/*.parquet")
    joined = trials.join(scores, on="trial_id").head(10_000)
    shown = joined.select("task_id", "skill_id", "repeat", "status", *TEXTS, "reason", "verdict")
    packed = gzip.compress(json.dumps(shown.to_dicts()).encode())
    return {"s": time.perf_counter() - started, "mb": resident_mb()[1], "bytes": len(packed)}
