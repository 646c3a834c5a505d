"""The rules of a gate held against a run without a row, so that a mistake in them is found before the first trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from skilleval.analytics.gate_changes import Rows
from skilleval.app.analyse import analysis_spec
from skilleval.app.gating import Baseline, Gated, gate_checks
from skilleval.config.settings import GateRule
from skilleval.domain.tasks import Benchmark
from skilleval.results.schema import SCORES, TRIALS, polars_schema


def check_rules(rules: Sequence[GateRule], config: Mapping[str, Any], benchmark: Benchmark) -> None:
    """Refuse rules that name a metric, a column or a bound that there is not.

    Raises:
        ConfigError: names the rule, the key and what is known.
    """
    if not rules:
        return
    asked = {name: getattr(benchmark, name) for name in ("k", "scoring_method", "max_latency_ms")}
    spec = analysis_spec({"config": config, "benchmark": asked})
    nothing = Rows(
        trials=pl.LazyFrame(schema=polars_schema(TRIALS)), scores=pl.LazyFrame(schema=polars_schema(SCORES))
    )
    gate_checks(rules, Gated(rows=nothing, spec=spec, baseline=Baseline(run_id="", rows=nothing)))
