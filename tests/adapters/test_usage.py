from __future__ import annotations

from typing import Any

import pytest

from skilleval.adapters.usage import reported_usage
from skilleval.domain.attempts import NO_USAGE, Usage


@pytest.mark.parametrize(
    "said",
    [
        {"input_tokens": 12, "output_tokens": 6, "total_tokens": 18},
        {"promptTokens": 12, "completionTokens": 6, "totalTokens": 18},
        {"prompt_tokens": 12, "completion_tokens": 6, "total_tokens": 18},
        {"inputTokens": 12, "outputTokens": 6, "totalTokens": 18, "model": "x"},
    ],
)
def test_common_spellings_mean_the_same(said: dict[str, Any]) -> None:
    """All usual names of the three counts are known."""
    assert reported_usage(said) == Usage(input_tokens=12, output_tokens=6, total_tokens=18)


def test_es18_a_lone_total_is_kept() -> None:
    """Counts that were not reported stay null and do not drop the one that was."""
    assert reported_usage({"total_tokens": 5}) == Usage(total_tokens=5)


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "12", None, 2**63])
def test_what_is_no_count_stays_null(wrong: object) -> None:
    """Only whole numbers that a column can hold are counts."""
    assert reported_usage({"input_tokens": wrong, "output_tokens": 0}) == Usage(output_tokens=0)


@pytest.mark.parametrize("said", [None, 3, [], "text", {}])
def test_no_usage_is_not_zero(said: object) -> None:
    """Nothing reported is not known."""
    assert reported_usage(said) == NO_USAGE
