"""`custom`: a Python function of the benchmark's author judges, in a process of its own."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from skilleval.domain.scores import Verdict
from skilleval.sandboxes.base import Command, Completed, Sandbox
from skilleval.scorers.base import MISSING, Finding, ScorerInfo, ScoringRecord, ungraded
from skilleval.scorers.findings import no_output, ungraded_with
from skilleval.scorers.options import with_task_options
from skilleval.scorers.values import is_number, shown
from skilleval.strict import StrictModel

_PROGRAM = Path(__file__).with_name("custom_program.py").resolve()
_FUNCTION = "score"
_MAX_OUTPUT_BYTES = 1_000_000
_LONGEST_LINE = 16_384  # less is stored, once nothing in it is secret any more


class CustomOptions(StrictModel):
    """`conf/scorer/custom.yaml`."""

    timeout_ms: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    pass_at: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class Judgement(BaseModel):
    """What a custom scorer may say: passed or not, a score in [0, 1], or both, and a reason."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    passed: bool | None = None
    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    reason: str = ""


class CustomScorer:
    """Calls `score(output, expected, input)` of a Python file or module and takes its typed judgement.

    The function runs in a child process with a time limit, and everything it starts ends with it. Whatever goes
    wrong there leaves the task ungraded: a broken scorer says nothing about a skill.
    """

    Options = CustomOptions
    needs_sandbox = True

    def __init__(self, options: CustomOptions, sandbox: Sandbox) -> None:
        self._options = options
        self._sandbox = sandbox
        self.info = ScorerInfo(kind="custom", version="2", options=options.model_dump())

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give one finding; ungraded where the scorer is missing, breaks or says something else."""
        reference = _reference(record)
        if reference is None:
            return (ungraded("nothing to check: the task names no `customScorerPath`"),)
        called = _Called.of(reference, record.folder)
        if called.is_missing:
            return (ungraded(f"the custom scorer {called.place} is not a file"),)
        if record.output is MISSING:
            return (no_output(),)
        options = with_task_options(record, self.info.kind, self._options)
        try:
            command = _command(called, record, options)
        except RecursionError:
            return (ungraded("the output is nested too deeply to be handed over"),)
        completed = await self._sandbox.run(command)
        return (_finding(completed, options),)

    def fingerprint(self, record: ScoringRecord) -> str | None:
        """Give the digest of the function's file; null for a module that does not stand beside the benchmark."""
        reference = _reference(record)
        return "" if reference is None else _Called.of(reference, record.folder).digest


@dataclass(frozen=True, slots=True, kw_only=True)
class _Called:
    """The function that a reference names: `file.py`, `file.py:function` or `module:function`."""

    place: str
    function: str
    is_file: bool
    folder: Path

    @property
    def is_missing(self) -> bool:
        """Whether there is no such file; whether there is such a module only Python's import can say."""
        return self.is_file and not Path(self.place).is_file()

    @property
    def digest(self) -> str | None:
        """SHA-256 of the file that holds the function; null where that is known only to Python's import."""
        file = Path(self.place) if self.is_file else self.folder / f"{self.place.replace('.', '/')}.py"
        try:
            return hashlib.sha256(file.read_bytes()).hexdigest()
        except OSError:
            return None

    @classmethod
    def of(cls, reference: str, benchmark: Path) -> _Called:
        place, colon, function = reference.rpartition(":")
        place, function = (place, function) if colon else (reference, _FUNCTION)
        if colon and not place.endswith(".py"):
            return cls(place=place, function=function, is_file=False, folder=benchmark.resolve())
        path = (benchmark / place).resolve()
        return cls(place=str(path), function=function, is_file=True, folder=path.parent)


def _reference(record: ScoringRecord) -> str | None:
    options = record.evaluator.options if record.evaluator else {}
    named = options.get("custom_scorer_path") or record.expected.get("customScorerPath")
    return named if isinstance(named, str) else None


def _command(called: _Called, record: ScoringRecord, options: CustomOptions) -> Command:
    request = {
        "place": called.place,
        "function": called.function,
        "is_file": called.is_file,
        "folder": str(called.folder),
        "output": record.output,
        "expected": dict(record.expected),
        "input": dict(record.input),
    }
    return Command(
        # Isolated: neither the working folder nor the user's site or variables decide what is imported.
        argv=(sys.executable, "-I", "-B", str(_PROGRAM)),
        folder=record.folder,
        env={},
        stdin=json.dumps(request).encode(),
        timeout_s=options.timeout_ms / 1000,
        max_output_bytes=_MAX_OUTPUT_BYTES,
        reads=(_PROGRAM, called.folder, record.folder.resolve()),
    )


def _finding(completed: Completed, options: CustomOptions) -> Finding:
    broken = _breakdown(completed, options)
    if broken:
        last = _last_line(completed.stderr)
        return ungraded_with(f"{broken}: {last}" if last else broken, last)
    try:
        said = json.loads(completed.stdout)
    except (ValueError, RecursionError):
        return ungraded_with("the custom scorer ended without a judgement", _last_line(completed.stderr))
    return _judged(said, options.pass_at)


def _breakdown(completed: Completed, options: CustomOptions) -> str | None:
    if completed.not_started:
        return f"the custom scorer could not start ({completed.not_started})"
    if completed.timed_out:
        return f"the custom scorer took longer than {options.timeout_ms:g} ms"
    if completed.output_limit:
        return f"the custom scorer wrote more than {_MAX_OUTPUT_BYTES} bytes"
    if completed.exit_code:
        return f"the custom scorer broke (exit code {completed.exit_code})"
    return None


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").split("\n")
    return next((line.strip()[:_LONGEST_LINE] for line in reversed(lines) if line.strip()), "")


def _judged(said: Any, pass_at: float) -> Finding:
    try:
        judgement = Judgement.model_validate(_as_mapping(said))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return _untyped(said, f"{place}: {first['msg']}" if place else str(first["msg"]))
    if judgement.passed is None and judgement.score is None:
        return _untyped(said, "neither passed nor score")
    if (judgement.passed, judgement.score) in {(True, 0), (False, 1)}:
        return _untyped(said, "passed and score contradict each other")
    score = judgement.score if judgement.score is not None else float(bool(judgement.passed))
    passed = judgement.passed if judgement.passed is not None else score >= pass_at
    reason = judgement.reason or ("" if passed else f"the custom scorer gave {shown(said)}")
    return Finding(verdict=Verdict.PASSED if passed else Verdict.FAILED, score=score, reason=reason)


def _as_mapping(said: Any) -> Any:
    if isinstance(said, bool):
        return {"passed": said}
    return {"score": said} if is_number(said) else said


def _untyped(said: Any, why: str) -> Finding:
    wanted = "true or false, a number from 0 to 1, or an object with passed, score, reason"
    return ungraded(f"the custom scorer gave {shown(said, 80)} ({why}); expected {wanted}")
