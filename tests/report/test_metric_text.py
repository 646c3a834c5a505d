from __future__ import annotations

import pytest

from skilleval.report.metric_text import metric_text, valued


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("p95_ms", 12.5, "12.5 ms"),
        ("cost_usd", 1.5, "1.50"),
        ("n_trials", 1200, "1 200"),
        ("total_tokens", 7, "7"),
        ("consistency", 0.5, "0.5"),
        ("consistency", None, "–"),
    ],
)
def test_a_metric_is_written_by_the_unit_in_its_name(metric: str, value: float | None, text: str) -> None:
    """Times have a unit, money has cents, counts are whole, and a null is a dash."""
    assert valued(metric, value).replace("\u202f", " ") == text


def test_an_interval_stands_beside_its_rate() -> None:
    """Only where both ends are known, and only beside the rate it is of."""
    row = {"completion_rate": 0.5, "ci_low": 0.25, "ci_high": 0.75, "consistency": 1.0}
    assert metric_text("completion_rate", row) == "0.5 [0.25, 0.75]"
    assert metric_text("completion_rate", row | {"ci_low": None}) == "0.5"
    assert metric_text("consistency", row) == "1"
