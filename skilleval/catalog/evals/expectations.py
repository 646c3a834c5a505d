"""Makes what is expected of a case: `Task.expected`, with keys only where something is asked for."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from skilleval.catalog.evals.assertions import marks, promoted, with_ids
from skilleval.catalog.evals.cases import EvalCase
from skilleval.catalog.evals.findings import Findings
from skilleval.catalog.evals.shapes import BEHAVIOUR
from skilleval.catalog.evals.tool_checks import tool_assertions_of
from skilleval.strict import nearest

_RULES = ("exists", "not_exists", "contains", "matches", "equals", "json_path", "max_bytes")
_ABOUT_CHECK = ("path", "value", "id", "weight", "required", "description")


def expected_of(case: EvalCase, findings: Findings) -> Mapping[str, Any]:
    """Give the checks of a case; a description of the expected output is one where there is no other.

    `assertions_from` then names the key that was promoted.
    """
    place, raw = case.place, case.raw
    checks: dict[str, Any] = {
        "assertions": list(case.assertions),
        "tool_assertions": tool_assertions_of(place, raw, findings),
        "script": _script(place, raw, findings),
        "file_checks": _file_checks(place, raw, findings),
    }
    checks = {key: value for key, value in checks.items() if value}
    described = {} if case.expected_output is None else {"expected_output": case.expected_output}
    if checks:
        return {**checks, **described}
    if case.expected_output is not None:
        findings.notices.add(place, "has only an expected_output, which becomes its one assertion")
        return {**promoted(case.expected_output, "expected_output"), **described}
    return _behaviour(case, findings)


def _behaviour(case: EvalCase, findings: Findings) -> Mapping[str, Any]:
    """Read the criteria of another tool that are plain sentences; others are left ungraded, and said so."""
    written = case.raw.get(BEHAVIOUR)
    if isinstance(written, str) and written.strip():
        findings.notices.alias(case.place, BEHAVIOUR, "expected_output, which becomes its one assertion")
        return promoted(written, BEHAVIOUR)
    if isinstance(written, list) and written and all(isinstance(one, str) and one.strip() for one in written):
        findings.notices.alias(case.place, BEHAVIOUR, "assertions")
        texts = [{"id": f"a{index}", "text": text} for index, text in enumerate(written, start=1)]
        return {"assertions": texts, "assertions_from": BEHAVIOUR}
    findings.notices.add(case.place, "nothing to check, so that the case will be ungraded")
    return {}


def _script(place: str, raw: Mapping[str, Any], findings: Findings) -> list[str] | None:
    """Read the command that judges: a line, a list of words, or an object with `command`."""
    written = raw.get("script")
    if written is None:
        return None
    if isinstance(written, dict):
        for key in written:
            if key != "command":
                findings.stranger(f"{place}.script", key, ("command",))
    words = _words(written.get("command") if isinstance(written, dict) else written)
    if not words:
        findings.problem(f"{place}.script", expected="a command and its arguments", found=written)
    return words or None


def _words(command: Any) -> list[str]:
    if isinstance(command, str):
        try:
            return shlex.split(command)
        except ValueError:  # quotes that are not closed
            return []
    is_list = isinstance(command, list) and all(isinstance(word, str) for word in command)
    return list(command) if is_list else []


def _file_checks(place: str, raw: Mapping[str, Any], findings: Findings) -> list[Mapping[str, Any]]:
    """Read what files an attempt has to leave: texts are paths, objects have `path` and rules for what is there."""
    read: list[tuple[str, dict[str, Any]]] = []
    for index, entry in enumerate(findings.entries(place, raw, "file_checks")):
        spot = f"{place}.file_checks[{index}]"
        check = {"path": entry, "exists": True} if isinstance(entry, str) else entry
        path = check.get("path") if isinstance(check, dict) else None
        if not isinstance(path, str) or not path.strip():
            findings.problem(f"{spot}.path", expected="the path of a file", found=entry)
        elif PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            findings.problem(f"{spot}.path", expected="a path below the folder of the attempt", found=path)
        else:
            _check_rules(spot, check, findings)
            read.append((spot, {**check, **marks(spot, check, findings)}))
    return list(with_ids(read, "f", findings))


def _check_rules(spot: str, check: Mapping[str, Any], findings: Findings) -> None:
    for key in check:
        if key not in {*_RULES, *_ABOUT_CHECK}:
            hint = nearest(key, [*_RULES, *_ABOUT_CHECK])
            findings.problem(f"{spot}.{key}", expected="a known key", found=key, hint=hint)
    if not any(key in check for key in _RULES):
        findings.problem(spot, expected=f"a rule: {', '.join(_RULES)}", found=check)
