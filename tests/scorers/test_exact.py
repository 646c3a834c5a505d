"""`exact` compares JSON values by type and value."""

from __future__ import annotations

from typing import Any

import pytest
from cases import case_input
from samples import judged, record

from skilleval.domain.scores import Verdict
from skilleval.domain.tasks import Evaluator
from skilleval.scorers.base import MISSING
from skilleval.scorers.exact import ExactOptions, ExactScorer

EXACT = ExactScorer(ExactOptions(case_sensitive=True, strip=True, tolerance=0.0))


def verdict(output: Any, expected: Any, scorer: ExactScorer = EXACT, **evaluator: Any) -> Verdict:
    """Judge one output."""
    named = Evaluator(kind="exact", options=evaluator) if evaluator else None
    (finding,) = judged(scorer, record(output, expected={"value": expected}, evaluator=named))
    return finding.verdict


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (1, 1.0),
        (25.0, 25),
        (10**30, 10**30),
        ({"a": [1, {"b": 2.0}]}, {"a": [1.0, {"b": 2}]}),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
        (" text\n", "text"),
        (None, None),
        ([], []),
        (True, True),
        ("e\u0301", "\u00e9"),
    ],
)
def test_values_that_mean_the_same_are_equal(output: Any, expected: Any) -> None:
    """Numbers compare by value, objects without order, text after trimming and canonical composition."""
    assert verdict(output, expected) is Verdict.PASSED


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (1, True),
        (True, 1),
        (0, False),
        (5, "5"),
        (True, "true"),
        (None, "null"),
        ("", None),
        ({"a": 1}, {"b": 2}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ([1, 2], "1,2"),
        ([[1], 2], [1, [2]]),
        ([], ""),
        ([], {}),
        ("Text", "text"),
        (10**30, 10**30 + 1),
        (0.1 + 0.2, 0.3),
        ({"value": "a"}, "a"),
    ],
)
def test_es05_values_of_another_type_or_content_differ(output: Any, expected: Any) -> None:
    """Nothing is equal because its printed text is."""
    assert verdict(output, expected) is Verdict.FAILED


def test_no_output_never_equals_null() -> None:
    """A missing output is not the value null."""
    assert verdict(MISSING, None) is Verdict.FAILED


@pytest.mark.parametrize("key", ["result", "output", "answer"])
def test_a_wrapped_answer_is_opened(key: str) -> None:
    """The first of result, output, answer holds the answer; the whole object may be expected too."""
    assert verdict({key: 3, "other": 4}, 3) is Verdict.PASSED
    assert verdict({key: 3}, {key: 3}) is Verdict.PASSED


def test_case_of_letters_follows_the_task_before_the_config() -> None:
    """`caseSensitive` of the task's own evaluator wins over the scorer's option."""
    folded = ExactScorer(ExactOptions(case_sensitive=False, strip=True, tolerance=0.0))
    assert verdict("STRASSE", "straße", folded) is Verdict.PASSED
    assert verdict("A", "a", folded, case_sensitive=True) is Verdict.FAILED
    assert verdict("A", "a", EXACT, case_sensitive=False) is Verdict.PASSED


def test_tolerance_is_absolute_and_never_touches_booleans() -> None:
    """Numbers may differ by the tolerance; `true` is no number."""
    near = ExactScorer(ExactOptions(case_sensitive=True, strip=True, tolerance=1e-9))
    assert verdict([0.1 + 0.2], [0.3], near) is Verdict.PASSED
    assert verdict(1.001, 1, near) is Verdict.FAILED
    assert verdict(True, 1, near) is Verdict.FAILED


def test_every_option_of_the_task_takes_effect() -> None:
    """`strip` and `tolerance` of the task's own evaluator win too."""
    assert verdict(" a", "a", strip=False) is Verdict.FAILED
    assert verdict(1.4, 1, tolerance=0.5) is Verdict.PASSED


def test_nothing_expected_is_ungraded() -> None:
    """A task without `value` gives exact nothing to check, which is neither passed nor failed."""
    (finding,) = judged(EXACT, record(3, expected={"keywords": ["a"]}))
    assert finding.verdict is Verdict.UNGRADED
    assert finding.score is None
    assert "value" in finding.reason


def test_the_reason_shows_both_values() -> None:
    """A failure can be understood from its row alone."""
    (finding,) = judged(EXACT, record({"result": 4}, expected={"value": 3}))
    assert finding.reason == "expected 3, found 4"


def test_depth_of_an_output_cannot_break_the_comparison() -> None:
    """Values nested far deeper than the recursion limit are compared."""
    deep: Any = 1
    for _ in range(50_000):
        deep = [deep]
    assert verdict(deep, deep) is Verdict.PASSED


def test_c17_plain_exact_does_not_normalise_numbers_in_text() -> None:
    """Without numeric normalisation none of the five pairs of texts is equal."""
    for output, expected in case_input("C17")["pairs"]:
        assert verdict(output, expected) is Verdict.FAILED
