"""How often `skilleval diff` finds a change where there is none: the error of the first kind, by simulation.

Both sides draw their repeats from the same chance a task (A/A), so that every finding is false. Chances are
beta-distributed with mean p and intra-task correlation ICC. Each cell has `--simulations` comparisons; where more than
5.5 % of them find something, the cell is measured anew with five times as many, and these count. The table goes to
`TYPE_ONE.md` beside this file; exit code 1 if a cell stays above 5.5 %.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.paired import pair_statistics, paired_interval
from skilleval.analytics.permutation import sign_flip_p

TASKS, REPEATS, RATES, CORRELATIONS = (20, 50, 100), (1, 3, 5), (0.5, 0.7, 0.9), (0.0, 0.3, 0.7)
LEVEL, LIMIT = 0.95, 0.055
AGAIN = 5
TABLE = Path(__file__).parent / "TYPE_ONE.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One setting; with `unequal` the repeats of the second side always agree, those of the first are independent."""

    tasks: int
    repeats: int
    rate: float
    correlation: float
    unequal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Shares of comparisons that found a change: by sign flips, by the t interval, and by both, as a verdict asks."""

    simulations: int
    flips: float
    t: float
    verdict: float


def rates(cell: Cell, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the chance of each task of n comparisons."""
    shape = (n, cell.tasks)
    if cell.correlation == 0:
        return np.full(shape, cell.rate)
    total = 1 / cell.correlation - 1
    return rng.beta(cell.rate * total, (1 - cell.rate) * total, size=shape)


def differences(cell: Cell, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the differences of task means of n comparisons."""
    chances = rates(cell, n, rng)
    first = rng.binomial(cell.repeats, chances) / cell.repeats
    if cell.unequal:
        return rng.binomial(1, chances) - first
    return rng.binomial(cell.repeats, chances) / cell.repeats - first


def measure(cell: Cell, n: int, seed: int) -> Found:
    """Run n comparisons through the functions of the product."""
    drawn = differences(cell, n, np.random.default_rng(seed))
    comparison = np.repeat(np.arange(n), cell.tasks)
    rows = pl.LazyFrame({"comparison": comparison, "difference": drawn.ravel()})
    found = summarise(rows, by=("comparison",), metrics=pair_statistics(pl.col("difference")))
    low, high = paired_interval(pl.lit(cell.tasks), level=LEVEL)
    p = sign_flip_p(pl.col("differences"), seed=seed)
    tested = derive(
        found,
        metrics=(
            Metric(name="flips", expr=p <= 1 - LEVEL, unit="statement"),
            Metric(name="t", expr=((low > 0) | (high < 0)).fill_null(value=False), unit="statement"),
        ),
    )
    both = tested.with_columns(verdict=pl.col("flips") & pl.col("t"))
    flips, t, verdict = both.select(pl.col("flips", "t", "verdict").mean()).collect().row(0)
    return Found(simulations=n, flips=flips, t=t, verdict=verdict)


def cells() -> Iterator[Cell]:
    """Give the grid of A/A comparisons."""
    for tasks, repeats, rate, correlation in itertools.product(TASKS, REPEATS, RATES, CORRELATIONS):
        yield Cell(tasks=tasks, repeats=repeats, rate=rate, correlation=correlation)


def unequal_cells() -> Iterator[Cell]:
    """Give settings with equal means and unequal consistency."""
    for tasks, rate in itertools.product((20, 100), (0.7, 0.9, 0.95)):
        yield Cell(tasks=tasks, repeats=5, rate=rate, correlation=0.0, unequal=True)


def settled(cell: Cell, simulations: int, seed: int) -> Found:
    """Measure a cell; one above the limit anew, with fresh draws and more of them."""
    found = measure(cell, simulations, seed)
    if found.flips <= LIMIT or cell.unequal:
        return found
    return measure(cell, AGAIN * simulations, seed + 1_000_000)


def table(measured: list[tuple[Cell, Found]]) -> Iterator[str]:
    """Write the rows of one table."""
    yield "| tasks | repeats | p | ICC | simulations | sign flips | t interval | verdict |"
    yield "|--:|--:|--:|--:|--:|--:|--:|--:|"
    for cell, found in measured:
        shares = " | ".join(f"{100 * share:.2f} %" for share in (found.flips, found.t, found.verdict))
        setting = f"{cell.tasks} | {cell.repeats} | {cell.rate:g} | {cell.correlation:g}"
        yield f"| {setting} | {found.simulations:,} | {shares} |"


def page(same: list[tuple[Cell, Found]], unequal: list[tuple[Cell, Found]]) -> Iterator[str]:
    """Write the page."""
    flips = [100 * found.flips for _, found in same]
    verdicts = [100 * found.verdict for _, found in same]
    yield "# How often `diff` finds a change where there is none"
    yield ""
    yield "Written by `make study-type-one`; nominal level 5 %, sign flips as the product makes them (every pattern up"
    yield "to 20 tasks that moved, else 10,000 seeded draws). A verdict needs both the sign flips and the t interval."
    yield ""
    yield f"A/A, both sides draw from the same chances: of {len(same)} cells the mean is {np.mean(flips):.2f} % by sign"
    yield f"flips, the largest {max(flips):.2f} %; of verdicts {np.mean(verdicts):.2f} % and {max(verdicts):.2f} %."
    yield f"A cell above {100 * LIMIT:g} % is measured anew with {AGAIN} times as many fresh draws, and these count."
    yield ""
    yield from table(same)
    yield ""
    yield "Equal means, unequal consistency: repeats of the one side are independent, those of the other always agree."
    yield "Signs are no coins then, and small p come too often: `diff` warns where flip rates differ by more than 0.1."
    yield ""
    yield from table(unequal)


def main() -> None:
    """Measure, write the page, and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--output", type=Path, default=TABLE)
    arguments = parser.parse_args()
    groups: list[list[tuple[Cell, Found]]] = []
    for group in (list(cells()), list(unequal_cells())):
        measured = []
        for seed, cell in enumerate(group):
            measured.append((cell, settled(cell, arguments.simulations, seed)))
            print(cell, measured[-1][1], file=sys.stderr, flush=True)
        groups.append(measured)
    arguments.output.write_text("\n".join(page(*groups)) + "\n", encoding="utf-8")
    above = [cell for cell, found in groups[0] if found.flips > LIMIT]
    print(f"{len(groups[0]) - len(above)} of {len(groups[0])} cells at most {100 * LIMIT:g} %")
    sys.exit(1 if above else 0)


if __name__ == "__main__":
    main()
