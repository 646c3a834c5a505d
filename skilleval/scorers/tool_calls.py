"""`tool_calls`: the calls a model made keep what the task says of them, one finding an assertion."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, NoReturn

from pydantic import Field

from skilleval.scorers import patterns
from skilleval.scorers.aside import aside
from skilleval.scorers.base import MISSING, Finding, ScorerInfo, ScoringRecord, ungraded
from skilleval.scorers.checks import about
from skilleval.scorers.findings import decided
from skilleval.scorers.javascript import translated
from skilleval.scorers.tool_paths import UnusablePathError, read_path, value_at
from skilleval.scorers.values import same_value, shown
from skilleval.strict import StrictModel

_SHOWN = 5  # names or values in a piece of evidence
_UNMEANT_FLAGS = frozenset("dguv")  # of JavaScript: Unicode is always on, and one match is enough
_NO_MODEL = "no model was asked, so there are no tool calls to look at"
_NOT_JSON = "arguments that are not valid JSON"


class ToolCallsOptions(StrictModel):
    """`conf/scorer/tool_calls.yaml`."""

    timeout_ms: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class UnusableAssertionError(ValueError):
    """An assertion that says nothing that could be checked; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A call with its arguments decoded; `MISSING` where they are no JSON."""

    name: str
    arguments: Any


Judge = Callable[[Mapping[str, Any], Sequence[_Call], float], Finding]


class ToolCallsScorer:
    """Checks `tool_assertions`: which tools were called, how often, and with which arguments.

    Where an assertion is about arguments, one call of the tool that fits is enough, and a place that is not there
    never fits. An assertion that cannot be understood is ungraded.
    """

    Options = ToolCallsOptions

    def __init__(self, options: ToolCallsOptions) -> None:
        self._options = options
        self.info = ScorerInfo(kind="tool_calls", version="1", options=options.model_dump())

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give a finding an assertion, under its own id."""
        wanted = record.expected.get("tool_assertions")
        if not isinstance(wanted, list | tuple) or not wanted:
            return (ungraded("nothing to check: the task has no `tool_assertions`"),)
        return await aside(partial(_findings, wanted, record, self._options))


def _findings(wanted: Sequence[Any], record: ScoringRecord, options: ToolCallsOptions) -> tuple[Finding, ...]:
    calls = None if record.tool_calls is None else [_call(call) for call in record.tool_calls]
    found = []
    for number, item in enumerate(wanted, start=1):
        assertion = item if isinstance(item, Mapping) else {}
        finding = ungraded(_NO_MODEL) if calls is None else _judged(assertion, calls, options.timeout_ms)
        check = str(assertion.get("description") or _sentence(assertion))
        found.append(about(assertion, finding, default_id=f"t{number}", check=check))
    return tuple(found)


def _judged(assertion: Mapping[str, Any], calls: Sequence[_Call], timeout_ms: float) -> Finding:
    kind = assertion.get("type")
    judge = _KINDS.get(kind) if isinstance(kind, str) else None
    if judge is None:
        return ungraded(f"`type` is {shown(kind, 80)}, expected one of {', '.join(_KINDS)}")
    name = assertion.get("name")
    if (name is not None or kind != "tool-call-count") and not (isinstance(name, str) and name):
        return ungraded(f"`name` is {shown(name, 80)}, expected the name of a tool")
    try:
        finding = judge(assertion, calls, timeout_ms)
    except (UnusableAssertionError, UnusablePathError, patterns.UnusablePatternError) as error:
        return ungraded(str(error))
    return replace(finding, evidence=finding.evidence or _names_seen(calls))


def _called(assertion: Mapping[str, Any], calls: Sequence[_Call], _: float) -> Finding:
    n = len(_of(assertion, calls))
    return decided(passed=n > 0, reason=f"{shown(assertion['name'], 80)} was not called")


def _not_called(assertion: Mapping[str, Any], calls: Sequence[_Call], _: float) -> Finding:
    n = len(_of(assertion, calls))
    return decided(passed=n == 0, reason=f"{shown(assertion['name'], 80)} was called {_times(n)}")


def _counted(assertion: Mapping[str, Any], calls: Sequence[_Call], _: float) -> Finding:
    low, high = assertion.get("min"), assertion.get("max")
    given = [bound for bound in (low, high) if bound is not None]
    if not given or not all(isinstance(bound, int) and not isinstance(bound, bool) for bound in given):
        _refuse(f"`min` and `max` are {shown(low, 40)} and {shown(high, 40)}, expected a whole number")
    n = len(_of(assertion, calls))
    passed = (low is None or n >= low) and (high is None or n <= high)
    return decided(passed=passed, reason=f"{_times(n)} called, wanted {_range(assertion)}")


def _equal(assertion: Mapping[str, Any], calls: Sequence[_Call], _: float) -> Finding:
    if "value" not in assertion:
        _refuse("`value` is not given: there is nothing to compare with")
    value = assertion["value"]
    return _some_argument(
        assertion, calls, lambda seen: same_value(seen, value, str), f"equals {shown(value, 80)}"
    )


def _containing(assertion: Mapping[str, Any], calls: Sequence[_Call], _: float) -> Finding:
    value = assertion.get("value")
    if not isinstance(value, str) or not value:
        _refuse(f"`value` is {shown(value, 80)}, expected a text that is not empty")
    fits = lambda seen: isinstance(seen, str) and value in seen  # noqa: E731 - read where it is used
    return _some_argument(assertion, calls, fits, f"contains {shown(value, 80)}")


def _matching(assertion: Mapping[str, Any], calls: Sequence[_Call], timeout_ms: float) -> Finding:
    pattern, flags = assertion.get("pattern"), assertion.get("flags") or ""
    if not isinstance(pattern, str) or not pattern:
        _refuse(f"`pattern` is {shown(pattern, 80)}, expected a regular expression")
    written, chosen = _as_python(pattern, flags), _flags(flags)
    patterns.compiled(written, chosen)  # also where there is nothing to search
    search = patterns.TimedSearch(timeout_ms, chosen)
    fits = lambda seen: isinstance(seen, str) and search.finds(written, seen)  # noqa: E731 - read where it is used
    return _some_argument(assertion, calls, fits, f"matches {shown(pattern, 80)}")


_KINDS: Mapping[str, Judge] = {
    "tool-called": _called,
    "tool-not-called": _not_called,
    "tool-arg-equals": _equal,
    "tool-arg-contains": _containing,
    "tool-arg-matches": _matching,
    "tool-call-count": _counted,
}


def _flags(given: object) -> int:
    """Read flags as JavaScript writes them."""
    letters = set(given) if isinstance(given, str) else None
    if letters is None or letters - _UNMEANT_FLAGS - set("imsy"):
        _refuse(f"`flags` are {shown(given, 40)}, expected some of the letters d, g, i, m, s, u, v, y")
    return patterns.flags(ignore_case="i" in letters, multiline="m" in letters, dotall="s" in letters)


def _as_python(pattern: str, flags: str) -> str:
    """Write a pattern of JavaScript for our library; where its flags change `.` or `$` they stay as they are."""
    written = pattern if set(flags) & set("ms") else translated(pattern) or pattern
    return rf"\A(?:{written})" if "y" in flags else written


def _some_argument(
    assertion: Mapping[str, Any], calls: Sequence[_Call], fits: Callable[[Any], bool], wanted: str
) -> Finding:
    """Say whether the value at the path fits in some call of the tool."""
    keys = read_path(assertion.get("path"))
    named = _of(assertion, calls)
    seen = [MISSING if call.arguments is MISSING else value_at(call.arguments, keys) for call in named]
    passed = any(value is not MISSING and fits(value) for value in seen)
    told = [_seen(call, value) for call, value in zip(named, seen, strict=True)]
    place = f"{assertion['name']}: {assertion['path']}"
    evidence = f"{place} {wanted}; seen in {_times(len(named), 'call')}: {_listed(told)}" if named else ""
    reason = f"no call in which {assertion['path']} {wanted}" if named else "it was not called"
    return replace(decided(passed=passed, reason=reason), evidence=evidence)


def _seen(call: _Call, value: Any) -> str:
    if call.arguments is MISSING:
        return _NOT_JSON
    return "no such place" if value is MISSING else shown(value, 80)


def _call(given: Mapping[str, Any]) -> _Call:
    arguments = given.get("arguments", MISSING)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, parse_constant=_no_json)
        except (ValueError, RecursionError):
            arguments = MISSING
    return _Call(name=str(given.get("name", "")), arguments=arguments)


def _no_json(constant: str) -> NoReturn:
    raise ValueError(constant)


def _of(assertion: Mapping[str, Any], calls: Sequence[_Call]) -> list[_Call]:
    name = assertion.get("name")
    return [call for call in calls if name is None or call.name == name]


def _names_seen(calls: Sequence[_Call]) -> str:
    """Say which tools were called how often, and where arguments could not be read."""
    counted = Counter(call.name for call in calls)
    names = [f"{shown(name, 80)} {_times(n)}" for name, n in counted.items()]
    n_broken = sum(call.arguments is MISSING for call in calls)
    broken = f"; {n_broken} with {_NOT_JSON}" if n_broken else ""
    return f"{_times(len(calls), 'call')}: {_listed(names)}{broken}" if calls else "no call of any tool"


def _listed(pieces: Sequence[str]) -> str:
    more = len(pieces) - _SHOWN
    return ", ".join(pieces[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _times(n: int, noun: str = "time") -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _range(assertion: Mapping[str, Any]) -> str:
    bounds = {"at least": assertion.get("min"), "at most": assertion.get("max")}
    return " and ".join(f"{word} {bound}" for word, bound in bounds.items() if bound is not None)


def _sentence(assertion: Mapping[str, Any]) -> str:
    """Say in a sentence what an assertion without a description wants."""
    name = assertion.get("name") or "any tool"
    place = f"{name} is called with {assertion.get('path')}"
    sentences = {
        "tool-called": f"{name} is called",
        "tool-not-called": f"{name} is not called",
        "tool-arg-equals": f"{place} equal to {shown(assertion.get('value'), 80)}",
        "tool-arg-contains": f"{place} containing {shown(assertion.get('value'), 80)}",
        "tool-arg-matches": f"{place} matching {assertion.get('pattern')}",
        "tool-call-count": f"{name} is called {_range(assertion)} times",
    }
    return sentences.get(str(assertion.get("type")), shown(dict(assertion), 80))


def _refuse(why: str) -> NoReturn:
    raise UnusableAssertionError(why)
