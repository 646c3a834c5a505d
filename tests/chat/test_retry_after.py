from __future__ import annotations

from datetime import UTC, datetime

import pytest

from skilleval.chat.retry_after import http_date, retry_after_s

NOW = datetime(2026, 11, 1, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("1.5", 1.5),
        ("60", 60.0),
        ("61", 60.0),
        ("9" * 400, 60.0),
        ("Sun, 01 Nov 2026 08:00:30 GMT", 30.0),
        ("Sunday, 01-Nov-26 08:00:30 GMT", 30.0),
        ("Sun Nov  1 08:00:30 2026", 30.0),
        ("Sun, 01 Nov 2026 10:00:30 +0200", 30.0),
        ("Sun, 01 Nov 2026 07:59:59 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 60.0),
    ],
)
def test_es20_every_form_of_retry_after_is_understood(said: str, seconds: float) -> None:
    """Seconds and the three forms of a date are waited for; the past is no wait, and there is a longest one."""
    assert retry_after_s(said, now=NOW, cap_s=60.0) == seconds


@pytest.mark.parametrize(
    "said",
    [None, "", "soon", "-5", "1e3", "inf", "nan", "٣", "7 s", "Sun, 41 Nov 2026 08:00:30 GMT",
     "Sun, 01 Nov 2026 08:00:30 +9999", f"Sun, 01 Nov 2026 08:00:30 +{'9' * 30}"],
)  # fmt: skip
def test_es20_nonsense_asks_for_nothing(said: str | None) -> None:
    """What cannot be understood is not known: it neither pauses nor breaks anything."""
    assert retry_after_s(said, now=NOW, cap_s=60.0) is None


def test_a_date_has_a_zone() -> None:
    """A date can always be compared with another one; an absent one is none."""
    assert http_date("Sun Nov  1 08:00:00 2026") == NOW
    assert http_date(None) is None
