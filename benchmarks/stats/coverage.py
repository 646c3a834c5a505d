"""How often do intervals hold the true rate? Simulated runs, judged by the very functions of the product.

Each simulated task draws its own chance of passing from a beta distribution: its mean is the true rate, its spread the
correlation within tasks. Its repeats pass by that chance. The default interval is held against its promise in each cell
of the grid; all other methods, and the interval of eval-skills, stand beside it in 12 named cells. Exit code 1 if the
promise is broken.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from coverage_page import page

from skilleval.analytics.eval_skills import bootstrap_bounds
from skilleval.analytics.intervals_table import cluster_intervals
from skilleval.analytics.spec import AnalysisSpec, CompositeWeights, IntervalMethod, Preset, ScoringMethod

TASKS = (20, 30, 50, 100, 200)
REPEATS = (1, 2, 3, 4, 5)
RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
CORRELATIONS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
SIMULATIONS, FEW_SIMULATIONS = 20_000, 2_000
QUICK = (1_000, 50)
PEER = "eval_skills"

LOWEST, HIGHEST = 0.915, 0.99
USUAL, USUAL_SHARE = 0.93, 0.99
MEAN = (0.945, 0.965)
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of run."""

    tasks: int
    repeats: int
    rate: float
    correlation: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """How an interval did in one cell: how often it held the rate, and how wide it was; none at all is a miss."""

    cell: Cell
    method: str
    simulations: int
    covered: float
    width: float


NAMED = (
    Cell(20, 1, 0.8, 0.0),
    Cell(20, 1, 0.95, 0.0),
    Cell(20, 3, 0.8, 0.5),
    Cell(20, 3, 0.8, 1.0),
    Cell(20, 5, 0.8, 1.0),
    Cell(20, 5, 0.95, 0.3),
    Cell(50, 1, 0.9, 0.0),
    Cell(50, 3, 0.7, 0.3),
    Cell(50, 5, 0.9, 0.7),
    Cell(100, 3, 0.6, 0.5),
    Cell(200, 1, 0.95, 0.0),
    Cell(200, 5, 0.8, 0.3),
)
"""Small and large, easy and hard, with independent and with repeated verdicts."""


def grid() -> tuple[Cell, ...]:
    """Give every cell of the study of the default."""
    return tuple(Cell(*values) for values in product(TASKS, REPEATS, RATES, CORRELATIONS))


def spec_of(method: IntervalMethod, resamples: int = 1000) -> AnalysisSpec:
    """Give the settings of an analysis; only those of intervals matter here."""
    return AnalysisSpec(
        preset=Preset.DEFAULT,
        level=0.95,
        k=1,
        weights=CompositeWeights(completion=1, partial=0, speed=0, reliability=0),
        scoring_method=ScoringMethod.MEAN,
        max_latency_ms=None,
        seed=0,
        serial_latency=False,
        reused_latency=False,
        interval=method,
        family=None,
        resamples=resamples,
    )


def simulated_passes(cell: Cell, simulations: int) -> np.ndarray:
    """Draw how many tasks of each simulated run passed 0, 1, … K times: one row a run, seeded by the cell."""
    seed = zlib.crc32(repr(cell).encode())
    chances = _chances(cell)
    return np.random.default_rng(seed).multinomial(cell.tasks, chances, size=simulations)


def _chances(cell: Cell) -> np.ndarray:
    """Give the chance of 0, 1, … K passes of one task: beta-binomial, and its two limits."""
    from scipy.stats import betabinom, binom

    counts = np.arange(cell.repeats + 1)
    if cell.correlation == 0:
        chances = binom.pmf(counts, cell.repeats, cell.rate)
    elif cell.correlation == 1:
        chances = np.zeros(cell.repeats + 1)
        chances[0], chances[-1] = 1 - cell.rate, cell.rate
    else:
        strength = 1 / cell.correlation - 1
        chances = betabinom.pmf(counts, cell.repeats, cell.rate * strength, (1 - cell.rate) * strength)
    return np.asarray(chances / chances.sum())


def clusters_of(passes: np.ndarray) -> pl.LazyFrame:
    """Lay the simulated runs out, one row a task: `simulation`, `part` passes of `whole` repeats."""
    simulations, kinds = passes.shape
    n_tasks = int(passes[0].sum())
    return pl.DataFrame(
        {
            "simulation": np.repeat(np.arange(simulations, dtype=np.int32), n_tasks),
            "part": np.repeat(np.tile(np.arange(kinds, dtype=np.float64), simulations), passes.ravel()),
            "whole": np.full(simulations * n_tasks, float(kinds - 1)),
        }
    ).lazy()


def coverage(cell: Cell, method: IntervalMethod, simulations: int) -> Coverage:
    """Simulate runs of a cell and count the intervals that hold the true rate."""
    clusters = clusters_of(simulated_passes(cell, simulations))
    found = cluster_intervals(clusters, by=("simulation",), spec=spec_of(method))
    bounds = found.select("low", "high").collect().to_numpy()
    return _counted(cell, method.value, bounds)


def peer_coverage(cell: Cell, simulations: int) -> Coverage:
    """Do the same for the interval of eval-skills: a bootstrap over trials that takes repeats for independent."""
    bounds = []
    for number, run in enumerate(simulated_passes(cell, simulations)):
        passed = int(run @ np.arange(len(run)))
        trials = np.zeros(cell.tasks * cell.repeats)
        trials[:passed] = 1.0
        found = bootstrap_bounds(pl.Series(trials), seed=number)[0]
        bounds.append((found["low"], found["high"]))
    return _counted(cell, PEER, np.array(bounds, dtype=np.float64))


def _counted(cell: Cell, method: str, bounds: np.ndarray) -> Coverage:
    low, high = bounds[:, 0], bounds[:, 1]
    # The bounds of a run without an interval are NaN: it holds nothing, and has no width.
    held = (low <= cell.rate + _SLACK) & (high >= cell.rate - _SLACK)
    return Coverage(cell, method, len(bounds), float(held.mean()), float(np.nanmean(high - low)))


def broken_promises(found: Sequence[Coverage]) -> list[str]:
    """Say where the default interval is not what it should be."""
    rates = np.array([one.covered for one in found])
    bad = [one for one in found if not LOWEST <= one.covered <= HIGHEST]
    said = [f"{one.cell}: covers {one.covered:.4f}, not {LOWEST}-{HIGHEST}" for one in bad]
    usual = float((rates >= USUAL).mean())
    if usual < USUAL_SHARE:
        said.append(f"only {usual:.4f} of the cells cover {USUAL} or more, not {USUAL_SHARE}")
    if not MEAN[0] <= rates.mean() <= MEAN[1]:
        said.append(f"mean coverage is {rates.mean():.4f}, not {MEAN[0]}-{MEAN[1]}")
    return said


def write_csv(found: Sequence[Coverage], path: Path) -> None:
    """Write one row a cell."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ("tasks", "repeats", "rate", "correlation", "method", "simulations", "covered", "width")
        )
        for one in found:
            cell = (one.cell.tasks, one.cell.repeats, one.cell.rate, one.cell.correlation)
            writer.writerow((*cell, one.method, one.simulations, f"{one.covered:.5f}", f"{one.width:.5f}"))


def compared(simulations: int) -> Iterator[Coverage]:
    """Study every method, and that of eval-skills, in the named cells."""
    for cell in NAMED:
        for method in IntervalMethod:
            yield coverage(cell, method, simulations)
        yield peer_coverage(cell, simulations)


def main() -> int:
    """Run the study and write its table; say what broke the promise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="few simulations and a part of the grid, writes nothing"
    )
    parser.add_argument("--output", type=Path, default=Path(__file__).parent, help="folder of the table")
    options = parser.parse_args()
    many, few = QUICK if options.quick else (SIMULATIONS, FEW_SIMULATIONS)
    cells = grid()[::25] if options.quick else grid()
    start = time.monotonic()
    found = [coverage(cell, IntervalMethod.AGRESTI_COULL_T, many) for cell in cells]
    beside = list(compared(few))
    promises = [] if options.quick else broken_promises(found)
    text = page(found, beside, promises)
    print(text)
    print(f"{time.monotonic() - start:.0f} s", file=sys.stderr)
    if not options.quick:
        (options.output / "COVERAGE.md").write_text(text, encoding="utf-8")
        write_csv([*found, *beside], options.output / "coverage.csv")
    for promise in promises:
        print(f"broken: {promise}", file=sys.stderr)
    return 1 if promises else 0


if __name__ == "__main__":
    sys.exit(main())
