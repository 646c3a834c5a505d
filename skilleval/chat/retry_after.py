"""Reads `Retry-After`: how long a server asks to be left alone."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


def retry_after_s(said: str | None, *, now: datetime, cap_s: float) -> float | None:
    """Give the seconds to wait, at most `cap_s`; null where nothing that can be understood was said.

    A number of seconds and all three forms of an HTTP date are understood. What is past is no wait at all. `now` is
    the server's own time where it told it, so that a clock that is wrong on either side does not matter.

    Source: RFC 9110, section 10.2.3.
    """
    text = (said or "").strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), cap_s)
    moment = http_date(text)
    return None if moment is None else min(max((moment - now).total_seconds(), 0.0), cap_s)


def http_date(said: str | None) -> datetime | None:
    """Give the moment that an HTTP date names; null where it names none."""
    try:
        moment = parsedate_to_datetime(said or "")
    except (ValueError, OverflowError):
        return None
    return (
        moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    )  # the old form of C's asctime names no zone
