"""A test of paired differences that assumes nothing of their distribution: what if each sign were a coin's?"""

from __future__ import annotations

import math

import numpy as np
import polars as pl

MAX_EXACT = 20
"""Up to so many differences all 2^n sign patterns are tried; beyond it `DRAWS` of them."""

DRAWS = 10_000
_SAME = 1e-9
_CELLS = 2_000_000  # of one block of drawn signs


def sign_flip_p(differences: pl.Expr, *, seed: int) -> pl.Expr:
    """Give the two-sided p of each list of paired differences; null for an empty list.

    Differences of zero change no sum, so that they are left out before patterns are counted.

    Source: Fisher 1935; a drawn p is (b + 1) / (m + 1), Phipson and Smyth 2010.
    """

    def p_values(lists: pl.Series) -> pl.Series:
        found = [_p(np.asarray(values, dtype=np.float64), seed) if len(values) else None for values in lists]
        return pl.Series(found, dtype=pl.Float64)

    return differences.map_batches(p_values, return_dtype=pl.Float64)


def _p(differences: np.ndarray, seed: int) -> float:
    moved = differences[np.abs(differences) > _SAME]
    observed = abs(math.fsum(moved)) - _SAME
    # Signs are drawn anyway, so that sizes are enough: whichever side is the baseline, the p is one and the same.
    moving = np.sort(np.abs(moved))
    if len(moving) <= MAX_EXACT:
        return float((np.abs(_all_sums(moving)) >= observed).mean())
    return (_drawn_extremes(moving, observed, seed) + 1) / (DRAWS + 1)


def _all_sums(differences: np.ndarray) -> np.ndarray:
    """Give the sum under every pattern of signs."""
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    return sums


def _drawn_extremes(differences: np.ndarray, observed: float, seed: int) -> int:
    """Count the drawn patterns whose sum is as far from zero as the observed one, block by block."""
    rng = np.random.default_rng(seed)
    block = max(_CELLS // len(differences), 1)
    extremes = 0
    for start in range(0, DRAWS, block):
        n = min(block, DRAWS - start)
        signs = rng.integers(0, 2, size=(n, len(differences)), dtype=np.int8) * 2.0 - 1.0
        extremes += int((np.abs(signs @ differences) >= observed).sum())
    return extremes
