"""Reads what a case says about tools: which a model may call, and what its calls have to be like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from skilleval.catalog.evals.assertions import marks, with_ids
from skilleval.catalog.evals.findings import Findings, Said
from skilleval.strict import nearest

_CHOICES = ("auto", "none", "required")
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "tool-called": ("name",),
    "tool-not-called": ("name",),
    "tool-arg-equals": ("name", "path", "value"),
    "tool-arg-contains": ("name", "path", "value"),
    "tool-arg-matches": ("name", "path", "pattern"),
    "tool-call-count": (),
}
_OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "tool-arg-matches": ("flags",),
    "tool-call-count": ("name", "min", "max"),
}
_ALWAYS = ("type", "description", "id", "weight", "required")
_FLAGS = frozenset("dgimsuvy")
_ONLY_JAVASCRIPT = re.compile(r"\\[pPckuB]|\(\?<|\[\^?\]|\(\?[a-z-]+:|\\/")
"""Where a pattern has something that Python writes otherwise, only the scorer can say whether it is right."""


def tools_of(
    place: str, item: Mapping[str, Any], defaults: Mapping[str, Any], findings: Findings
) -> dict[str, Any]:
    """Read `tools` (those of the case replace the default ones) and `tool_choice`; keys only where given."""
    own = item.get("tools")
    tools = defaults.get("tools") if own is None else own
    spot = "defaults.tools" if own is None else f"{place}.tools"
    read: dict[str, Any] = {}
    names = _tool_names(spot, tools, findings) if tools is not None else []
    if tools:
        read["tools"] = tools
    choice = item.get("tool_choice")
    if choice is not None and _is_choice(f"{place}.tool_choice", choice, names, findings):
        read["tool_choice"] = choice
    return read


def _tool_names(place: str, tools: Any, findings: Findings) -> list[str]:
    if not isinstance(tools, list):
        findings.problem(place, expected="a list of function tools", found=tools)
        return []
    names: list[str] = []
    for index, tool in enumerate(tools):
        name = _tool_name(tool)
        if name is None:
            expected = 'a function tool: {"type": "function", "function": {"name": …}}'
            findings.problem(f"{place}[{index}]", expected=expected, found=tool)
        elif name in names:
            findings.problem(f"{place}[{index}]", expected="a name of its own", found=name)
        names += [name] if name else []
    return names


def _tool_name(tool: Any) -> str | None:
    function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) and name else None


def _is_choice(place: str, choice: Any, names: list[str], findings: Findings) -> bool:
    named = _tool_name(choice)
    if choice not in _CHOICES and named is None:
        expected = f'{", ".join(_CHOICES)} or {{"type": "function", "function": {{"name": …}}}}'
        findings.problem(place, expected=expected, found=choice)
    elif not names:
        findings.problem(place, expected="tools beside a tool_choice", found=Said("none"))
    elif named is not None and named not in names:
        findings.problem(place, expected="one of the tools", found=named, hint=nearest(named, names))
    else:
        return True
    return False


def tool_assertions_of(place: str, item: Mapping[str, Any], findings: Findings) -> list[Mapping[str, Any]]:
    """Read the `tool_assertions` of a case, each with an `id`."""
    spot = f"{place}.tool_assertions"
    entries = findings.entries(place, item, "tool_assertions")
    read = [
        (f"{spot}[{index}]", one)
        for index, entry in enumerate(entries)
        if (one := _tool_assertion(f"{spot}[{index}]", entry, findings)) is not None
    ]
    return list(with_ids(read, "t", findings))


def _tool_assertion(place: str, entry: Any, findings: Findings) -> dict[str, Any] | None:
    kind = entry.get("type") if isinstance(entry, dict) else None
    if not isinstance(kind, str) or kind not in _REQUIRED:
        found = kind if isinstance(entry, dict) else entry
        hint = nearest(kind, list(_REQUIRED)) if isinstance(kind, str) else ""
        findings.problem(f"{place}.type", expected=f"one of {', '.join(_REQUIRED)}", found=found, hint=hint)
        return None
    known = (*_ALWAYS, *_REQUIRED[kind], *_OPTIONAL.get(kind, ()))
    for key in entry:
        if key not in known:
            findings.stranger(place, key, known)
    before = len(findings.problems)
    _check_values(place, kind, entry, findings)
    said = marks(place, entry, findings)
    if len(findings.problems) > before:
        return None
    return {**{key: value for key, value in entry.items() if key in known}, **said}


def _check_values(place: str, kind: str, entry: Mapping[str, Any], findings: Findings) -> None:
    texts = {"name", "path", "pattern"} | ({"value"} if kind == "tool-arg-contains" else set())
    for key in _REQUIRED[kind]:
        if key not in entry:
            findings.problem(f"{place}.{key}", expected=f"{key}, which {kind} needs", found=Said("nothing"))
        elif key in texts and not (isinstance(entry[key], str) and entry[key]):
            findings.problem(f"{place}.{key}", expected="a text", found=entry[key])
    if kind == "tool-arg-matches":
        _check_pattern(place, entry, findings)
    if kind == "tool-call-count":
        _check_count(place, entry, findings)


def _check_pattern(place: str, entry: Mapping[str, Any], findings: Findings) -> None:
    pattern, flags = entry.get("pattern"), entry.get("flags", "")
    if not isinstance(flags, str) or set(flags) - _FLAGS or len(set(flags)) < len(flags):
        findings.problem(
            f"{place}.flags", expected=f"each of {''.join(sorted(_FLAGS))} at most once", found=flags
        )
    if not isinstance(pattern, str) or _ONLY_JAVASCRIPT.search(pattern):
        return
    try:
        re.compile(pattern)
    except re.error as error:
        found = Said(f"{pattern}: {error}")
        findings.problem(f"{place}.pattern", expected="a regular expression", found=found)


def _check_count(place: str, entry: Mapping[str, Any], findings: Findings) -> None:
    limits = {key: entry[key] for key in ("min", "max") if entry.get(key) is not None}
    for key, value in limits.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            findings.problem(f"{place}.{key}", expected="a whole number from 0", found=value)
            return
    if not limits:
        findings.problem(f"{place}.min", expected="min or max", found=Said("neither"))
    elif limits.get("min", 0) > limits.get("max", limits.get("min", 0)):
        found = Said(f"{limits['min']}, above max {limits['max']}")
        findings.problem(f"{place}.min", expected="min not above max", found=found)
    if "name" in entry and not (isinstance(entry["name"], str) and entry["name"]):
        findings.problem(f"{place}.name", expected="a text", found=entry["name"])
