from __future__ import annotations

from skilleval.report.sparkline import sparkline


def test_values_are_bars_between_the_ends() -> None:
    """The least is the lowest bar, the greatest the highest; between fixed ends both may be missing."""
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"
    assert sparkline([0.4, 0.6], low=0.0, high=1.0) == "▄▅"
    assert sparkline([-1.0, 7.0], low=0.0, high=1.0) == "▁█"


def test_what_is_not_known_is_a_dot() -> None:
    """A null takes its place in the line; of nothing there is nothing."""
    assert sparkline([1.0, None, 0.0]) == "█·▁"
    assert sparkline([None, None]) == "··"
    assert sparkline([]) == ""


def test_values_that_are_alike_are_no_slope() -> None:
    """Without a range every bar is half-way up."""
    assert sparkline([3.0, 3.0]) == "▄▄"
