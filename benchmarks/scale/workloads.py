"""The three workloads that are planned with: how long their trials take, and what they read, write and cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from simulation import Durations

TAIL_SHARE, TAIL_FACTOR = 0.01, 5.0
"""One trial in a hundred takes five times as long: retries, slow hosts, long answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Trials of one kind. All figures are assumptions but the costs of `adapter`, which are measured.

    `sigma` is the spread of the logarithm of a duration. `calls` counts requests to a provider in one trial, tokens are
    those of a trial, `output_bytes` those of its output and transcript together.
    """

    name: str
    adapter: str
    mean_s: float
    sigma: float
    concurrency: int
    calls: int
    input_tokens: int
    output_tokens: int
    output_bytes: int

    def draw(self, n: int, rng: np.random.Generator) -> Durations:
        """Draw durations: log-normal with a tail, `mean_s` on average."""
        raw = rng.lognormal(-(self.sigma**2) / 2, self.sigma, n)
        raw[rng.random(n) < TAIL_SHARE] *= TAIL_FACTOR
        return np.asarray(raw * self.mean_s / (1 + TAIL_SHARE * (TAIL_FACTOR - 1)), dtype=float)

    def usd(self, n: int, *, input_usd: float, output_usd: float) -> float:
        """Give what the tokens of so many trials cost at prices a million tokens."""
        return n * (self.input_tokens * input_usd + self.output_tokens * output_usd) / 1e6


WORKLOADS = (
    Workload(
        name="fast callable, 5 ms",
        adapter="worker",
        mean_s=0.005,
        sigma=0.5,
        concurrency=4,
        calls=0,
        input_tokens=0,
        output_tokens=0,
        output_bytes=200,
    ),
    Workload(
        name="model call, 2 s",
        adapter="chat",
        mean_s=2.0,
        sigma=0.6,
        concurrency=32,
        calls=2,
        input_tokens=1500,
        output_tokens=400,
        output_bytes=2_000,
    ),
    Workload(
        name="agent, 120 s",
        adapter="subprocess, sandbox process",
        mean_s=120.0,
        sigma=0.8,
        concurrency=16,
        calls=20,
        input_tokens=60_000,
        output_tokens=4_000,
        output_bytes=30_000,
    ),
)
