"""What a script says of an attempt: by its exit code, or by a JSON object on stdout."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from skilleval.domain.scores import Verdict
from skilleval.sandboxes.base import Completed
from skilleval.scorers.base import Finding, ungraded

CHECK_ID: Final = "script"
MAX_OUTPUT_BYTES: Final = 1_000_000
_TAIL = 2000  # characters kept of what it wrote
_FAILED = 1
_VERDICT_KEYS = frozenset({"passed", "score", "checks"})
_MOST_STARTS = 20  # lines in which a verdict is looked for


class _Saying(BaseModel):
    """What a script may say of one thing: passed or not, a score in [0, 1], or both, and a reason."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    passed: bool | None = None
    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    reason: str = ""

    @property
    def is_clear(self) -> bool:
        """Whether it says anything, and not two things at once."""
        says = self.passed is not None or self.score is not None
        return says and (self.passed, self.score) not in {(True, 0), (False, 1)}

    def finding(self, check_id: str, check: str, pass_at: float) -> Finding:
        """Give the finding it stands for."""
        score = self.score if self.score is not None else float(bool(self.passed))
        passed = self.passed if self.passed is not None else score >= pass_at
        reason = self.reason or ("" if passed else f"the script gave {score:g}")
        verdict = Verdict.PASSED if passed else Verdict.FAILED
        return Finding(verdict=verdict, score=score, reason=reason, check_id=check_id, check=check)


class _Check(_Saying):
    """One of several things a script looked at."""

    id: Annotated[str, Field(min_length=1)]


class _Said(_Saying):
    """The whole of what a script says on stdout."""

    checks: tuple[_Check, ...] = Field(default=(), strict=False)


def script_findings(
    completed: Completed, command: str, *, timeout_ms: float, pass_at: float
) -> tuple[Finding, ...]:
    """Say what a script that has ended comes to; whatever is no clear verdict is ungraded."""
    broken = _breakdown(completed, timeout_ms)
    if broken:
        return (broke(command, broken, _tail(completed.stderr) or _tail(completed.stdout)),)
    if _written(completed).startswith("{"):
        return _told(completed, command, pass_at)
    if _holds_verdict(completed):
        why = "its JSON verdict does not stand alone on stdout: other text belongs on stderr"
        return (broke(command, why, _tail(completed.stdout)),)
    reason = f"the script ended with exit code {_FAILED}" if completed.exit_code else ""
    finding = _Saying(passed=not completed.exit_code, reason=reason).finding(CHECK_ID, command, pass_at)
    return (replace(finding, evidence=_tail(completed.stdout) or _tail(completed.stderr)),)


def broke(command: str, why: str, evidence: str = "") -> Finding:
    """Say that a script gave no verdict, which is nobody's fault but its author's."""
    finding = ungraded(
        f"script_error: the script says nothing, {why}",
        check_id=CHECK_ID,
        check=command,
        failure_kind="judge_error",
    )
    return replace(finding, evidence=evidence)


def _breakdown(completed: Completed, timeout_ms: float) -> str:
    if completed.not_started:
        return f"it could not start ({completed.not_started})"
    if completed.timed_out:
        return f"it took longer than {timeout_ms:g} ms"
    if completed.output_limit:
        return f"it wrote more than {MAX_OUTPUT_BYTES} bytes"
    if completed.limit:
        return f"it ran out of {completed.limit} ({completed.limit_value})"
    if completed.exit_code in {0, _FAILED}:
        return _crash(completed.stderr) if completed.exit_code else ""
    return f"it broke (exit code {completed.exit_code})"


def _crash(stderr: bytes) -> str:
    """Say how a Python program crashed, which ends with the exit code of a failure; a failed `assert` is one."""
    last = _tail(stderr).rpartition("\n")[2]
    crashed = b"Traceback (most recent call last):" in stderr and not last.startswith("AssertionError")
    return f"it broke ({last})" if crashed else ""


def _told(completed: Completed, command: str, pass_at: float) -> tuple[Finding, ...]:
    """Take what the script says in JSON; where that cannot be understood, its exit code counts for nothing either."""
    evidence = _tail(completed.stdout)
    try:
        said = _Said.model_validate(json.loads(_written(completed)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return (broke(command, f"its verdict cannot be used ({place}: {first['msg']})", evidence),)
    except (ValueError, RecursionError):
        return (broke(command, "its verdict is no JSON", evidence),)
    fault = _unclear(said, completed)
    if fault:
        return (broke(command, f"its verdict cannot be used ({fault})", evidence),)
    whole = (said.finding(CHECK_ID, command, pass_at),) if said.is_clear else ()
    checks = tuple(check.finding(check.id, check.id, pass_at) for check in said.checks)
    if whole:  # then that decides, and its checks explain it
        checks = tuple(replace(check, required=False, weight=0.0) for check in checks)
    return tuple(replace(finding, evidence=evidence) for finding in (*whole, *checks))


def _unclear(said: _Said, completed: Completed) -> str:
    """Say what in a verdict contradicts itself; empty where nothing does."""
    says_whole = said.passed is not None or said.score is not None
    ids = [CHECK_ID, *(check.id for check in said.checks)]
    if len(set(ids)) < len(ids):
        return "two checks have one id"
    if not said.checks and not says_whole:
        return "neither passed nor score nor checks"
    if not all(check.is_clear for check in said.checks) or (says_whole and not said.is_clear):
        return "passed and score contradict each other, or neither is given"
    if completed.exit_code == _FAILED and said.passed:
        return f"passed, and exit code {_FAILED}"
    return ""


def _written(completed: Completed) -> str:
    """Give what stands on stdout, without the mark that some programs begin their UTF-8 with."""
    return completed.stdout.decode("utf-8", "replace").strip().removeprefix("\ufeff").lstrip()


def _holds_verdict(completed: Completed) -> bool:
    """Say whether a line, or the rest from one on, is a verdict: then its author did not mean the exit code."""
    lines = _written(completed).splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith("{")][-_MOST_STARTS:]
    return any(_is_verdict(text) for at in starts for text in (lines[at], "\n".join(lines[at:])))


def _is_verdict(text: str) -> bool:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and not _VERDICT_KEYS.isdisjoint(value)


def _tail(written: bytes) -> str:
    return written.decode("utf-8", "replace").strip()[-_TAIL:]
