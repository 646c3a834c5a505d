"""The formats of JSON Schema that are checked; a format that is not here is a remark, as the standard says."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date
from urllib.parse import urlsplit

from skilleval.scorers.patterns import UnusablePatternError, compiled

_LONGEST_HOSTNAME = 253
_LEAP_SECOND = 60
_MINUTES_A_DAY = 24 * 60
_LAST_MINUTE = _MINUTES_A_DAY - 1

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|([-+])([01][0-9]|2[0-3]):([0-5][0-9]))"
)
_DURATION = re.compile(
    r"P(?!$)(?:[0-9]+W|(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+S)?)?)"
)
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_LABEL = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_NOT_IN_URI = re.compile(r"[^!-~]|[\"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})")


def _is_date(text: str) -> bool:
    return bool(_DATE.fullmatch(text)) and _accepts(date.fromisoformat, text)


def _is_time(text: str) -> bool:
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    hour, minute, second, sign, off_hour, off_minute = match.groups(default="0")
    if int(second) < _LEAP_SECOND:
        return True
    offset = (int(off_hour) * 60 + int(off_minute)) * (-1 if sign == "-" else 1)
    return (int(hour) * 60 + int(minute) - offset) % _MINUTES_A_DAY == _LAST_MINUTE


def _is_date_time(text: str) -> bool:
    day, separator, time = text[:10], text[10:11], text[11:]
    return separator in {"T", "t"} and _is_date(day) and _is_time(time)


def _is_hostname(text: str) -> bool:
    return len(text) <= _LONGEST_HOSTNAME and all(_LABEL.fullmatch(label) for label in text.split("."))


def _is_uri_reference(text: str) -> bool:
    return not _NOT_IN_URI.search(text) and _accepts(urlsplit, text)


def _is_uri(text: str) -> bool:
    return _is_uri_reference(text) and bool(urlsplit(text).scheme)


def _is_ipv6(text: str) -> bool:
    return "%" not in text and _accepts(ipaddress.IPv6Address, text)


def _is_regex(text: str) -> bool:
    try:
        compiled(text)
    except UnusablePatternError:
        return False
    return True


def _accepts(reader: Callable[[str], object], text: str) -> bool:
    try:
        reader(text)
    except ValueError:
        return False
    return True


def _shaped(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


FORMATS: Mapping[str, Callable[[str], bool]] = {
    "date": _is_date,
    "time": _is_time,
    "date-time": _is_date_time,
    "duration": _shaped(_DURATION),
    "email": _shaped(_EMAIL),
    "hostname": _is_hostname,
    "ipv4": lambda text: _accepts(ipaddress.IPv4Address, text),
    "ipv6": _is_ipv6,
    "uri": _is_uri,
    "uri-reference": _is_uri_reference,
    "uuid": _shaped(_UUID),
    "json-pointer": _shaped(_POINTER),
    "regex": _is_regex,
}
"""Format → whether a text has it. Values that are no texts have every format."""
