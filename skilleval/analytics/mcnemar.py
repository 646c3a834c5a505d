"""Paired verdicts with one repeat: only the tasks that ended differently say anything."""

from __future__ import annotations

import polars as pl

from skilleval.analytics.metric import Metric
from skilleval.analytics.special import binomial_at_most

_SOURCE = "McNemar 1947; mid-p: Fagerland, Lydersen and Laake 2013"


def mcnemar(lost: pl.Expr, gained: pl.Expr) -> tuple[Metric, ...]:
    """Test whether as many tasks were lost as gained; null where either count is not known.

    Of the n tasks that ended differently, k on the rarer side: exact p = 2 P(X ≤ k), mid-p takes off P(X = k).
    """
    n, half = lost + gained, pl.lit(0.5)
    rarer = pl.min_horizontal(lost, gained)
    up_to = binomial_at_most(rarer, n, half)
    below = pl.when(rarer > 0).then(binomial_at_most(rarer - 1, n, half)).when(rarer == 0).then(0.0)
    return (
        Metric(
            name="mcnemar_exact",
            expr=(2 * up_to).clip(upper_bound=1.0),
            unit="probability",
            source=_SOURCE,
            doc="1 where no task ended differently",
        ),
        Metric(
            name="mcnemar_mid_p",
            expr=(up_to + below).clip(upper_bound=1.0),
            unit="probability",
            source=_SOURCE,
        ),
        Metric(
            name="odds_ratio",
            expr=pl.when(lost > 0).then(gained / lost),
            unit="ratio",
            doc="matched: gained / lost; null where none was lost",
        ),
    )
