"""`files`: what an attempt left as files is there and says what it should, one finding a check."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from skilleval.scorers import patterns
from skilleval.scorers.aside import aside
from skilleval.scorers.attempt_files import LAYOUT, UnusableFileError, attempt_files, plain_path
from skilleval.scorers.base import MISSING, Finding, ScorerInfo, ScoringRecord, ungraded
from skilleval.scorers.checks import MARKS, about
from skilleval.scorers.findings import decided
from skilleval.scorers.tool_paths import UnusablePathError, read_path, value_at
from skilleval.scorers.values import same_value, shown
from skilleval.strict import StrictModel, nearest

_ABOUT = (*MARKS, "description", "path")
_SHOWN = 200


class FilesOptions(StrictModel):
    """`conf/scorer/files.yaml`."""

    max_file_bytes: Annotated[int, Field(gt=0)]
    timeout_ms: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class UnusableCheckError(ValueError):
    """A check that says nothing that could be looked for; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A file of the attempt, and the check that looks at it."""

    content: bytes
    check: Mapping[str, Any]
    timeout_ms: float

    @property
    def text(self) -> str:
        """What it says; bytes that are no UTF-8 match nothing."""
        return self.content.decode("utf-8", "replace")


class FilesScorer:
    """Checks `file_checks`: each names a `path` and one rule or more, all of which have to hold.

    A check that cannot be understood, or whose file is too large, is ungraded.
    """

    Options = FilesOptions

    def __init__(self, options: FilesOptions) -> None:
        self._options = options
        self.info = ScorerInfo(kind="files", version="1", options=options.model_dump())

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give a finding a check, under its own id."""
        wanted = record.expected.get("file_checks")
        if not isinstance(wanted, list | tuple) or not wanted:
            return (ungraded("nothing to check: the task has no `file_checks`"),)
        return await aside(partial(_findings, wanted, record, self._options))


def _findings(wanted: Sequence[Any], record: ScoringRecord, options: FilesOptions) -> tuple[Finding, ...]:
    files: Mapping[str, bytes] = {}
    unusable = ""
    try:
        files = attempt_files(record)
    except UnusableFileError as error:
        unusable = str(error)
    except RecursionError:
        unusable = "the output is nested too deeply to be written as a file"
    found = []
    for number, item in enumerate(wanted, start=1):
        check = item if isinstance(item, Mapping) else {}
        finding = ungraded(unusable) if unusable else _checked(check, files, options)
        told = str(check.get("description") or _sentence(check))
        found.append(about(check, finding, default_id=f"f{number}", check=told))
    return tuple(found)


def _checked(check: Mapping[str, Any], files: Mapping[str, bytes], options: FilesOptions) -> Finding:
    try:
        path = plain_path(check.get("path"))
        rules = _rules(check)
        content = files.get(path)
        if content is not None and len(content) > options.max_file_bytes:
            return ungraded(
                f"{path} has {len(content)} bytes, more than {options.max_file_bytes} are not read"
            )
        if "exists" in rules or "not_exists" in rules:
            is_wanted = check.get("exists", True) is not check.get("not_exists", False)
            if is_wanted is not (content is not None):
                return _missed(f"{path} is {'not ' if is_wanted else ''}there", files)
        return _content_checked(check, rules, path, content, files, options)
    except (UnusableCheckError, UnusableFileError, UnusablePathError, patterns.UnusablePatternError) as error:
        return ungraded(str(error))


def _content_checked(  # noqa: PLR0913, PLR0917 - a check, what it looks at, and where
    check: Mapping[str, Any],
    rules: Sequence[str],
    path: str,
    content: bytes | None,
    files: Mapping[str, bytes],
    options: FilesOptions,
) -> Finding:
    looks = [_LOOKS[rule] for rule in rules if rule in _LOOKS]
    if looks and content is None:
        return _missed(f"{path} is not there", files)
    seen = _Seen(content=content or b"", check=check, timeout_ms=options.timeout_ms)
    missed = [said for said in [look(seen) for look in looks] if said]
    evidence = seen.text[:_SHOWN] if looks else ""
    return decided(passed=not missed, reason=f"{path} {'; '.join(missed)}", evidence=evidence)


def _missed(reason: str, files: Mapping[str, bytes]) -> Finding:
    return decided(passed=False, reason=reason, evidence=f"files: {', '.join(sorted(files))}")


def _rules(check: Mapping[str, Any]) -> list[str]:
    """Give the rules of a check, and refuse those that there are not or that mean nothing."""
    known = [*_ABOUT, *_RULES]
    for key in check:
        if key not in known:
            raise UnusableCheckError(f"unknown key {key!r} ({nearest(str(key), known)})")
    rules = [key for key in check if key in _RULES]
    if not rules:
        raise UnusableCheckError(f"nothing to check: it names none of {', '.join(_RULES)}; files: {LAYOUT}")
    for flag in ("exists", "not_exists"):
        if not isinstance(check.get(flag, True), bool):
            raise UnusableCheckError(f"`{flag}` is {shown(check[flag], 40)}, expected true or false")
    if "exists" in check and "not_exists" in check:
        raise UnusableCheckError("give either `exists` or `not_exists`")
    if ("json_path" in check) != ("value" in check):
        raise UnusableCheckError("`json_path` and `value` belong together")
    return rules


def _contains(seen: _Seen) -> str:
    wanted = seen.check["contains"]
    pieces = wanted if isinstance(wanted, list) else [wanted]
    if not pieces or not all(isinstance(piece, str) and piece for piece in pieces):
        raise UnusableCheckError(f"`contains` is {shown(wanted, 80)}, expected a text that is not empty")
    absent = [shown(piece, 60) for piece in pieces if piece not in seen.text]
    return f"does not contain {', '.join(absent)}" if absent else ""


def _matches(seen: _Seen) -> str:
    pattern = seen.check["matches"]
    if not isinstance(pattern, str) or not pattern:
        raise UnusableCheckError(f"`matches` is {shown(pattern, 80)}, expected a regular expression")
    found = patterns.TimedSearch(seen.timeout_ms).finds(pattern, seen.text)
    return "" if found else f"does not match {shown(pattern, 80)}"


def _equals(seen: _Seen) -> str:
    wanted = seen.check["equals"]
    is_equal = seen.text == wanted if isinstance(wanted, str) else same_value(_json(seen.text), wanted, str)
    return "" if is_equal else f"does not equal {shown(wanted, 80)}"


def _json_value(seen: _Seen) -> str:
    path, wanted = seen.check["json_path"], seen.check["value"]
    keys = read_path(path)
    document = _json(seen.text)
    if document is MISSING:
        return "is no JSON"
    value = value_at(document, keys)
    if value is not MISSING and same_value(value, wanted, str):
        return ""
    there = "nothing" if value is MISSING else shown(value, 80)
    return f"has {there} at {path}, expected {shown(wanted, 80)}"


def _small_enough(seen: _Seen) -> str:
    most = seen.check["max_bytes"]
    if not isinstance(most, int) or isinstance(most, bool) or most < 0:
        raise UnusableCheckError(f"`max_bytes` is {shown(most, 40)}, expected a number of bytes")
    n = len(seen.content)
    return f"has {n} bytes, more than {most}" if n > most else ""


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return MISSING


_LOOKS: Mapping[str, Callable[[_Seen], str]] = {
    "contains": _contains,
    "matches": _matches,
    "equals": _equals,
    "json_path": _json_value,
    "max_bytes": _small_enough,
}
_RULES = ("exists", "not_exists", *_LOOKS, "value")


def _sentence(check: Mapping[str, Any]) -> str:
    rules = ", ".join(f"{key} {shown(value, 60)}" for key, value in check.items() if key not in _ABOUT)
    return f"{check.get('path')}: {rules}"
