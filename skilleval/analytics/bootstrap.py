"""The bootstrap over clusters: what would the mean have been of other clusters of the same kind?"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

BOUNDS = pl.Struct({"low": pl.Float64(), "high": pl.Float64()})
_CELLS = 10_000_000  # of one block of drawn counts
_MIN_CLUSTERS = 2
_FEW = 4
_FLAT = 1e-12  # what rounding leaves of a spread that is none

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How to draw: percentile bounds, or with `corrected` bias-corrected and accelerated ones."""

    level: float
    resamples: int
    seed: int
    corrected: bool


def bootstrap_bounds(parts: Floats, wholes: Floats, how: Resampling) -> tuple[float, float] | None:
    """Give the interval of Σ parts / Σ wholes over clusters, each of which has a part and a whole.

    Clusters are drawn with return, in the order given; null where no resample differs from another.

    Source: Efron 1987.
    """
    clusters = np.column_stack([parts, wholes])[wholes > 0].astype(np.float64)
    own = clusters[:, 0] / clusters[:, 1]
    if len(clusters) < _MIN_CLUSTERS or np.ptp(own) <= _FLAT * np.abs(own).max():
        return None
    means = _drawn_means(clusters, resamples=how.resamples, seed=how.seed)
    tails = np.array([(1 - how.level) / 2, (1 + how.level) / 2])
    if how.corrected:
        tails = _corrected(tails, means, clusters)
    low, high = np.quantile(means, tails)
    return (float(low), float(high)) if high > low else None


def bootstrap_interval(parts: pl.Expr, wholes: pl.Expr, how: Resampling) -> pl.Expr:
    """Give the same as one struct `low`, `high` of a group; both expressions give one value a cluster."""

    def bounds(clusters: pl.Series) -> pl.Series:
        # Sorted, so that the order of rows is irrelevant.
        known = clusters.struct.unnest().drop_nulls().sort("part", "whole")
        parts, wholes = (known[name].cast(pl.Float64).to_numpy() for name in ("part", "whole"))
        low, high = bootstrap_bounds(parts, wholes, how) or (None, None)
        return pl.Series([{"low": low, "high": high}], dtype=BOUNDS)

    clusters = pl.struct(parts.alias("part"), wholes.alias("whole"))
    return clusters.map_batches(bounds, return_dtype=BOUNDS, returns_scalar=True)


def _drawn_means(clusters: Floats, *, resamples: int, seed: int) -> Floats:
    """Draw the mean again and again, block by block."""
    rng = np.random.default_rng(seed)
    kinds, counts = np.unique(clusters, axis=0, return_counts=True)
    n = len(clusters)
    few = len(kinds) * _FEW <= n  # counts of few kinds are drawn faster than many clusters one by one
    block = max(_CELLS // n, 1)
    sums = []
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        if few:
            sums.append(rng.multinomial(n, counts / n, size=size) @ kinds)
        else:
            picked = rng.integers(0, n, size=(size, n))
            sums.append(np.column_stack([column[picked].sum(axis=1) for column in clusters.T]))
    drawn = np.concatenate(sums)
    return np.asarray(drawn[:, 0] / drawn[:, 1], dtype=np.float64)


def _corrected(tails: Floats, means: Floats, clusters: Floats) -> Floats:
    """Shift the tails by the bias of the resamples and by their skew, which the jackknife shows."""
    normal = NormalDist()
    part, whole = clusters.sum(axis=0)
    observed = part / whole
    below = ((means < observed).mean() + (means <= observed).mean()) / 2
    rarest = 1 / (2 * len(means))  # an observed mean beyond all resamples has no finite quantile
    bias = normal.inv_cdf(float(np.clip(below, rarest, 1 - rarest)))
    left_out = (part - clusters[:, 0]) / (whole - clusters[:, 1])
    spread = left_out.mean() - left_out
    acceleration = (spread**3).sum() / (6 * (spread**2).sum() ** 1.5)
    shifted = [bias + normal.inv_cdf(float(tail)) for tail in tails]
    return np.array([normal.cdf(float(bias + s / (1 - acceleration * s))) for s in shifted])
