"""Secrets are found whole, without their surroundings, and in what a cut left of them."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import pytest

from skilleval.results.secrets import Secrets


def found(text: str, pattern: str, others: Sequence[str] = ()) -> list[str]:
    """Give what is found in a text of a trial that has these other texts."""
    secrets = Secrets([re.compile(pattern)], [text, *others])
    return [text[start:end] for start, end in secrets.spans(text, may_be_cut=True)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("it was hunter-2000", ["hunter-2000"]),
        ("it was hunter-2…", ["hunter-2"]),
        ('found "hunter-20… (40 characters), not "hunter-… (9 characters)', ["hunter-20", "hunter-"]),
        ("it ends with hunter-2", ["hunter-2"]),
        ("…er-2000 was it", ["er-2000"]),
        ("er-2000 was it", ["er-2000"]),
        ("the hunter-gatherer", []),
        ("it ends with hun", []),
        ("000 was it", []),
    ],
)
def test_a_word_is_known_from_another_text_of_the_trial(text: str, parts: list[str]) -> None:
    """Also where its surroundings are missing, or a cut left four characters or more of it."""
    assert found(text, r"(?<=password: )\S+", ["password: hunter-2000"]) == parts


def test_a_line_of_a_secret_of_several_lines_is_one() -> None:
    """A message may be the last line of what was printed."""
    whole = "-- BEGIN --\nabcdef\nghijkl\n-- END --"
    assert found("exit code 1: ghijkl", r"-- BEGIN --[^§]*-- END --", [whole]) == ["ghijkl"]


def test_what_overlaps_is_one_place() -> None:
    """Two patterns that match the same text make one mark."""
    secrets = Secrets([re.compile("abcd-12"), re.compile("12-ef")], ["abcd-12-ef"])
    assert list(secrets.spans("abcd-12-ef", may_be_cut=False)) == [(0, 10)]


def test_many_secrets_in_much_text_are_found_in_time() -> None:
    """The effort does not grow with the number of words, nor a flood of cuts with their square."""
    text = " ".join(f"user{i:06d}@example.org" for i in range(20_000))
    started = time.monotonic()
    secrets = Secrets([re.compile(r"\w+@[\w.]+")], [text])
    assert len(list(secrets.spans(text, may_be_cut=False))) == 20_000
    assert list(secrets.spans("…" * 30_000, may_be_cut=True)) == []
    assert time.monotonic() - started < 20
