"""`regex` searches the text of the answer, and no pattern can hold up the run."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from samples import judged, record

from skilleval.domain.scores import Verdict
from skilleval.domain.tasks import Evaluator
from skilleval.scorers.base import MISSING, Finding
from skilleval.scorers.regex import RegexOptions, RegexScorer

REGEX = RegexScorer(RegexOptions(case_sensitive=True, multiline=False, dotall=False, timeout_ms=20_000.0))
ENDLESS = "^(a|aa)+$"
TEXT_WITHOUT_END = "a" * 60 + "!"


def finding(output: Any, expected: dict[str, Any], **options: Any) -> Finding:
    """Judge one output."""
    evaluator = Evaluator(kind="regex", options=options) if options else None
    (one,) = judged(REGEX, record(output, expected=expected, evaluator=evaluator))
    return one


def matches(output: Any, *patterns: str, **options: Any) -> bool:
    """Say whether all patterns match."""
    return finding(output, {"patterns": list(patterns)}, **options).verdict is Verdict.PASSED


def test_score_is_the_share_of_patterns_and_pass_needs_all() -> None:
    """Two of three patterns give two thirds and the verdict failed, with the missing one named."""
    partly = finding("order 42 shipped", {"patterns": [r"\d+", "^order", "lost$"]})
    assert partly.score == pytest.approx(2 / 3)
    assert partly.verdict is Verdict.FAILED
    assert partly.reason == '2 of 3 patterns found, missing "lost$"'
    assert matches("order 42 shipped", r"\d+", "^order", "shipped$")


@pytest.mark.parametrize(
    ("output", "pattern", "found"),
    [
        ("abc", "^abc$", True),
        ({"result": "abc"}, "^abc$", True),
        ({"answer": "abc", "note": "x"}, "x", False),
        ({"a": "one", "b": {"c": ["two"]}}, "^one\ntwo$", True),
        ({"result": "x"}, "result", False),
        ({"text": 'say "yes"'}, 'say "yes"', True),
        (42, "^42$", True),
        ([True, None, 1.5], "^true\nnull\n1.5$", True),
        ("", "^$", True),
        ({}, ".", False),
        ("里斯本", r"^\p{Han}{3}$", True),
    ],
)
def test_the_text_is_that_of_the_unwrapped_answer(output: Any, pattern: str, found: bool) -> None:
    """A text is searched as it is, anything else by the text of its values, a line each; keys are not searched."""
    assert matches(output, pattern) is found


@pytest.mark.parametrize(
    ("text", "pattern", "options"),
    [
        ("LISBON", "lisbon", {"case_sensitive": False}),
        ("a\nb", "^b$", {"multiline": True}),
        ("a\nb", "a.b", {"dotall": True}),
    ],
)
def test_each_option_of_the_task_takes_effect(text: str, pattern: str, options: dict[str, Any]) -> None:
    """Without the option the pattern does not match, with it it does."""
    assert not matches(text, pattern)
    assert matches(text, pattern, **options)


def test_inline_flags_are_understood() -> None:
    """`(?i)` inside a pattern works, and concerns this pattern only."""
    assert matches("LISBON", "(?i)lisbon")
    assert finding("LISBON", {"patterns": ["(?i)lisbon", "lisbon"]}).score == 0.5


def test_the_value_is_the_sole_pattern_where_there_are_none() -> None:
    """A task that expects a text `value` can be judged by regex."""
    assert finding("order 42", {"value": r"\d\d"}).verdict is Verdict.PASSED
    assert finding(3, {"value": 3}).verdict is Verdict.UNGRADED


@pytest.mark.parametrize("expected", [{}, {"patterns": []}, {"patterns": ["a", ""]}, {"value": ""}])
def test_c12_nothing_to_check_is_ungraded(expected: dict[str, Any]) -> None:
    """No pattern, or one that matches every text, is never a pass."""
    assert finding("a", expected).verdict is Verdict.UNGRADED


@pytest.mark.parametrize("pattern", ["[", "(", r"\p{Nonsense}", "a" * 10_001, "(" * 5000 + ")" * 5000])
@pytest.mark.parametrize("output", ["a", MISSING])
def test_a_pattern_that_does_not_compile_is_ungraded(pattern: str, output: Any) -> None:
    """A broken pattern is a fault of the benchmark, whatever came out; the reason shows its beginning."""
    one = finding(output, {"patterns": ["a", pattern]})
    assert one.verdict is Verdict.UNGRADED
    assert repr(pattern)[:20] in one.reason


def test_a_pattern_without_end_is_ungraded_in_time() -> None:
    """Catastrophic backtracking ends at the limit, with pattern and limit in the reason."""
    started = time.monotonic()
    one = finding(TEXT_WITHOUT_END, {"patterns": [ENDLESS]}, timeout_ms=200)
    assert one.verdict is Verdict.UNGRADED
    assert one.reason == f"the pattern '{ENDLESS}' took longer than 200 ms"
    assert time.monotonic() - started < 30


def test_all_patterns_of_a_task_share_the_limit() -> None:
    """Hundreds of endless patterns take no longer than one."""
    started = time.monotonic()
    assert (
        finding(TEXT_WITHOUT_END, {"patterns": [ENDLESS] * 300}, timeout_ms=200).verdict is Verdict.UNGRADED
    )
    assert time.monotonic() - started < 30


def test_a_task_may_give_its_own_limit() -> None:
    """`timeoutMs` of the evaluator wins over the config."""
    assert "longer than 20 ms" in finding(TEXT_WITHOUT_END, {"patterns": [ENDLESS]}, timeout_ms=20).reason


def test_a_slow_search_holds_up_nobody() -> None:
    """While a pattern backtracks, the event loop goes on."""
    limited = Evaluator(kind="regex", options={"timeout_ms": 500})
    seen = record(TEXT_WITHOUT_END, expected={"patterns": [ENDLESS]}, evaluator=limited)

    async def beats() -> int:
        judging, count = asyncio.create_task(REGEX.findings(seen)), 0
        while not judging.done():
            await asyncio.sleep(0.005)
            count += 1
        return count

    assert asyncio.run(beats()) >= 5


def test_no_output_matches_nothing() -> None:
    """A skill without an answer fails, even where the pattern matches everything."""
    assert finding(MISSING, {"patterns": [".*"]}).verdict is Verdict.FAILED
