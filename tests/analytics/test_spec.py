from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from skilleval.analytics.spec import AnalysisSpec
from skilleval.errors import ConfigError

Spec = Callable[..., AnalysisSpec]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"level": 1.0}, "level"),
        ({"level": math.nan}, "level"),
        ({"k": 0}, "k"),
        ({"max_latency_ms": 0.0}, "max_latency_ms"),
        ({"max_latency_ms": math.inf}, "max_latency_ms"),
        ({"preset": "other"}, "preset"),
        ({"scoring_method": "median"}, "scoring_method"),
        ({"weights": {"speed": math.nan}}, "composite.speed"),
        ({"weights": {"partial": -0.1}}, "composite.partial"),
    ],
)
def test_es15_a_number_no_formula_can_use_is_refused(spec: Spec, change: dict[str, Any], key: str) -> None:
    """NaN, infinity and values out of range never reach a formula."""
    with pytest.raises(ConfigError) as caught:
        spec(**change)
    assert [problem.key for problem in caught.value.problems] == [key]


def test_all_weights_zero_are_refused(spec: Spec) -> None:
    """A composite of nothing has no value."""
    nothing = dict.fromkeys(("completion", "partial", "speed", "reliability"), 0.0)
    with pytest.raises(ConfigError, match="weights with a finite sum above 0"):
        spec(weights=nothing)


def test_the_latency_limit_may_be_unknown(spec: Spec) -> None:
    """Null is not a number out of range."""
    assert spec(max_latency_ms=None).max_latency_ms is None
