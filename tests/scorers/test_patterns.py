"""Searches share a time limit, and one does not take the time of another."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from skilleval.scorers.patterns import TimedSearch, UnusablePatternError, flags

ENDLESS = "^(a|aa)+$"
TEXT_WITHOUT_END = "a" * 60 + "!"


def ended_after_s(timeout_ms: float) -> float:
    """Search without end; give the time it took."""
    started = time.monotonic()
    with pytest.raises(UnusablePatternError, match="took longer than"):
        TimedSearch(timeout_ms).finds(ENDLESS, TEXT_WITHOUT_END)
    return time.monotonic() - started


def test_searches_side_by_side_each_have_their_whole_time() -> None:
    """The limit of one search is not used up by the others."""
    with ThreadPoolExecutor(4) as pool:
        assert all(took >= 0.3 for took in pool.map(ended_after_s, [300.0] * 4))


def test_a_quick_search_succeeds_beside_slow_ones() -> None:
    """A pattern that matches at once is not ended because another one is slow."""
    with ThreadPoolExecutor(4) as pool:
        slow = [pool.submit(ended_after_s, 200.0) for _ in range(3)]
        assert pool.submit(TimedSearch(5000.0).finds, "a{60}", TEXT_WITHOUT_END).result()
        assert all(one.result() for one in slow)


def test_time_that_is_over_is_not_without_limit() -> None:
    """Once the time is used up, the next pattern of the same task is not searched at all."""
    search = TimedSearch(50.0)
    for pattern in (ENDLESS, "a"):
        with pytest.raises(UnusablePatternError, match="longer than 50 ms"):
            search.finds(pattern, TEXT_WITHOUT_END)


def test_flags_are_combined() -> None:
    """Each flag is on or off for itself."""
    every = flags(ignore_case=True, multiline=True, dotall=True)
    assert TimedSearch(1000.0, every).finds("^B.c$", "a\nb\nc")
    assert not TimedSearch(1000.0, flags(ignore_case=True, multiline=True, dotall=False)).finds(
        "^B.c$", "a\nb\nc"
    )
    assert flags(ignore_case=False, multiline=False, dotall=False) == 0
