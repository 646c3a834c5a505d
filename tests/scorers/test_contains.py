"""`contains` searches the values of an output, never its keys."""

from __future__ import annotations

from typing import Any

import pytest
from cases import case_input
from samples import judged, record

from skilleval.domain.scores import Verdict
from skilleval.domain.tasks import Evaluator
from skilleval.scorers.base import MISSING, Finding
from skilleval.scorers.contains import ContainsOptions, ContainsScorer

CONTAINS = ContainsScorer(ContainsOptions(case_sensitive=False, whole_words=False))


def finding(output: Any, expected: dict[str, Any], **options: Any) -> Finding:
    """Judge one output."""
    evaluator = Evaluator(kind="contains", options=options) if options else None
    (one,) = judged(CONTAINS, record(output, expected=expected, evaluator=evaluator))
    return one


def has(output: Any, *keywords: Any, **options: Any) -> bool:
    """Say whether all keywords are found."""
    return finding(output, {"keywords": list(keywords)}, **options).verdict is Verdict.PASSED


def test_score_is_the_share_of_keywords_and_pass_needs_all() -> None:
    """Half of the keywords give 0.5 and the verdict failed, with the missing one named."""
    half = finding("1 mile is 1.609 km", {"keywords": ["mile", "kilometre"]})
    assert (half.score, half.verdict) == (0.5, Verdict.FAILED)
    assert 'missing "kilometre"' in half.reason
    assert has("1 mile is 1.6 kilometres", "mile", "kilometre")


def test_keys_of_an_object_are_not_searched() -> None:
    """The keyword `result` is not found in every wrapped answer."""
    assert not has({"result": "Lisbon"}, "result")
    assert has({"result": "the result"}, "result")


def test_text_is_compared_unescaped() -> None:
    """Quotes and line breaks inside an object match as they are."""
    assert has({"text": 'say "yes"\nnow'}, 'say "yes"\nnow')


@pytest.mark.parametrize(
    ("output", "keyword", "found"),
    [
        ({"n": 1.0}, 1, True),
        ({"n": True}, 1, False),
        ({"n": 1}, True, False),
        ({"n": True}, True, True),
        ("it is 72, in total, so", 72, True),
        ("it is 1,234 in total", 1234, True),
        ("it is 1,234 in total", 234, False),
        ("between 3-4", 4, True),
        ("at -4 degrees", -4, True),
        ("at -4 degrees", 4, False),
        ("version 1.2.3", 1.2, False),
        ("room 72b", 72, False),
        ("half is 0.50", 0.5, True),
        ({"a": {"b": [1, 2]}}, [1, 2.0], True),
        ({"a": {"b": [1, 2]}}, [2, 1], False),
        ({"a": None}, None, True),
        ([], None, False),
    ],
)
def test_keywords_that_are_not_text_are_found_by_value(output: Any, keyword: Any, found: bool) -> None:
    """Numbers match by value in values and in text, everything else as an equal part."""
    assert has(output, keyword) is found


def test_the_value_is_the_sole_keyword_where_there_are_none() -> None:
    """A task that expects a `value` can be judged by contains."""
    assert finding({"result": "3000.0 m"}, {"value": 3000}).verdict is Verdict.PASSED


@pytest.mark.parametrize("expected", [{}, {"keywords": []}, {"keywords": [""]}, {"keywords": ["  ", "a"]}])
def test_c12_nothing_to_check_is_ungraded(expected: dict[str, Any]) -> None:
    """No keyword, or one that is in every text, is never a pass."""
    assert finding("anything", expected).verdict is Verdict.UNGRADED


def test_c12_the_case_itself_is_ungraded() -> None:
    """An empty keyword list and an empty output give no score."""
    case = case_input("C12")
    expected = {"keywords": case["expectedOutput"]["keywords"]}
    assert finding(case["output"], expected).score is None


def test_c20_text_of_any_script_is_found_unescaped() -> None:
    """Chinese text inside an object matches; one of two keywords gives half."""
    case = case_input("C20")
    one = finding(case["output"], {"keywords": case["keywords"]}, case_sensitive=case["caseSensitive"])
    assert one.score == 0.5
    assert 'missing "Lisbon"' in one.reason


@pytest.mark.parametrize(
    ("output", "keyword"), [("cafe\u0301", "café"), ("STRASSE", "straße"), ("ẞ", "ß"), ("İ", "i̇")]
)
def test_c20_unicode_forms_and_case_fold_alike(output: str, keyword: str) -> None:
    """Composed and decomposed text match, and so do all case foldings."""
    assert has(output, keyword)


def test_whole_words_do_not_match_inside_others() -> None:
    """With the word option `cat` is not in `category`; without it, it is."""
    assert has("category", "cat")
    assert not has("category", "cat", whole_words=True)
    assert has("the cat.", "cat", whole_words=True)


def test_case_sensitive_works() -> None:
    """`caseSensitive` of the task decides."""
    assert has("LISBON", "lisbon")
    assert not has("LISBON", "lisbon", case_sensitive=True)


def test_no_output_contains_nothing() -> None:
    """A missing output does not contain the text of a missing value."""
    assert not has(MISSING, "undef")
    assert not has(MISSING, None)
