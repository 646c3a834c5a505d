"""The findings that several scorers share, in one wording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from skilleval.domain.scores import Verdict
from skilleval.scorers.base import Finding, ungraded
from skilleval.scorers.values import shown

_LISTED = 5


def no_output() -> Finding:
    """Say that the skill completed without an answer, which is a failure of the skill."""
    return Finding(verdict=Verdict.FAILED, score=0.0, reason="the skill gave no output")


def decided(*, passed: bool, reason: str = "", evidence: str = "") -> Finding:
    """Give a score of 1 or 0; a pass needs no reason."""
    if passed:
        return Finding(verdict=Verdict.PASSED, score=1.0)
    return Finding(verdict=Verdict.FAILED, score=0.0, reason=reason, evidence=evidence)


def share_found(wanted: Sequence[str], absent: Sequence[str], *, noun: str, evidence: str = "") -> Finding:
    """Give the share of wanted things that are not absent; passed if none is."""
    if not absent:
        return Finding(verdict=Verdict.PASSED, score=1.0)
    found = len(wanted) - len(absent)
    listed = ", ".join(shown(each, 60) for each in absent[:_LISTED])
    reason = f"{found} of {len(wanted)} {noun} found, missing {listed}"
    return Finding(verdict=Verdict.FAILED, score=found / len(wanted), reason=reason, evidence=evidence)


def ungraded_with(reason: str, evidence: str) -> Finding:
    """Say that no score can be given, why, and what shows it."""
    return replace(ungraded(reason), evidence=evidence)


def shown_output(output: Any) -> str:
    """Show an output as short JSON text, however deeply a skill has nested it."""
    try:
        return shown(output)
    except RecursionError:
        return "a value that is nested too deeply to be shown"
