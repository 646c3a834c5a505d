"""One ad-hoc call of a skill: judged like any task, but nothing is stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from skilleval.app.evaluate import run_and_close, runner_options
from skilleval.app.prepare import Prepared, prepare
from skilleval.clock import Clock
from skilleval.config.compose import compose_settings, quote
from skilleval.domain.attempts import Status
from skilleval.domain.records import TrialRecord
from skilleval.domain.scores import Score, Verdict
from skilleval.errors import CatalogError, Problem
from skilleval.outcome import ExitCode
from skilleval.registry import part
from skilleval.results.excerpts import shorten
from skilleval.results.redaction import Redactor
from skilleval.runner import Runner
from skilleval.scorers import SCORERS
from skilleval.scorers.panel import Panel

_TASK_ID = "adhoc"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What the output is held against: a scorer's kind and the keys of `expectedOutput` for it.

    `option` is what asked for it, to name it in messages.
    """

    option: str
    kind: str
    expected: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of the call. `is_checked` is false where nothing was asked of the output.

    `redactor` keeps the keys that the skill was given out of what is shown.
    """

    record: TrialRecord
    is_checked: bool
    redactor: Redactor

    @property
    def scores(self) -> tuple[Score, ...]:
        """What the scorers say; nothing where nothing was asked of the output."""
        return self.record.scores if self.is_checked else ()

    @property
    def verdict(self) -> Verdict | None:
        """Failed if a required check failed, passed if all of them passed, else ungraded; null without a check."""
        verdicts = {score.verdict for score in self.scores if score.required}
        for one in (Verdict.FAILED, Verdict.UNGRADED, Verdict.PASSED):
            if one in verdicts:
                return one
        return Verdict.UNGRADED if self.scores else None

    @property
    def exit_code(self) -> ExitCode:
        """Say honestly how it went: an error is an error, and what could not be judged has not passed."""
        if self.record.attempt.status is not Status.COMPLETED:
            return ExitCode.INFRASTRUCTURE
        codes = {Verdict.FAILED: ExitCode.GATE_NOT_MET, Verdict.UNGRADED: ExitCode.NOTHING_EVALUATED}
        return ExitCode.OK if self.verdict is None else codes.get(self.verdict, ExitCode.OK)

    def facts(self) -> dict[str, Any]:
        """Give the answer as JSON, with no more of its texts than a run stores."""
        attempt = self.record.attempt
        facts: dict[str, Any] = {
            "exit_code": int(self.exit_code),
            "skill": f"{self.record.trial.skill.id} {self.record.trial.skill.version}",
            "status": attempt.status.value,
            "failure_kind": attempt.failure_kind,
            "message": attempt.message,
            "output": attempt.output,
            "latency_ms": attempt.latency_ms,
            "n_tries": len(self.record.tries),
            "stdout": attempt.stdout,
            "stderr": attempt.stderr,
            "verdict": None if self.verdict is None else self.verdict.value,
            "scores": [_score(score) for score in self.scores],
        }
        line = self.redactor.line({"trial": {}, "tries": [facts], "scores": facts["scores"]})
        facts, scores = {**line["tries"][0]}, line["scores"]
        for row in (facts, *scores):
            shorten(row)
        output = None if facts["output"] is None else json.loads(facts["output"])
        return {**facts, "output": output, "scores": scores}


@dataclass(frozen=True, slots=True)
class _Kept:
    """A sink in memory."""

    records: list[TrialRecord]

    def write(self, record: TrialRecord) -> None:
        """Keep the record."""
        self.records.append(record)


@contextmanager
def prepared_call(
    skill: str,
    given: Mapping[str, Any],
    check: Check | None,
    *,
    overrides: Sequence[str],
    config_file: Path | None,
) -> Iterator[Prepared]:
    """Get a call ready; the task file that it is read from lasts as long as the context.

    Raises:
        SkillevalError: the skill, the settings or the check cannot be used.
    """
    if check is not None:
        part(SCORERS, check.kind, key=check.option, group="scorers")
    with TemporaryDirectory() as folder:
        # A task file, because then every rule of the catalog holds for this task too.
        file = Path(folder) / "adhoc.json"
        file.write_text(json.dumps([_task(given, check)]), encoding="utf-8")
        words = [
            f"skill_set.paths={quote([skill])}",
            f"benchmark.tasks={quote(str(file))}",
            "runner.repeats=1",
        ]
        if not any(override.startswith("scorer=") for override in overrides):
            words.append("scorer=task")
        composed = compose_settings([*words, *overrides], project=Path.cwd(), config_file=config_file)
        try:
            prepared = prepare(composed)
        except CatalogError as error:
            raise _retold(error, file) from None
        _check_single(prepared)
        yield prepared


def answer(prepared: Prepared, *, is_checked: bool) -> Answer:
    """Make the call that was prepared."""
    record = asyncio.run(_called(prepared))
    return Answer(record=record, is_checked=is_checked, redactor=prepared.redactor)


def _retold(error: CatalogError, file: Path) -> CatalogError:
    """Tell of a mistake without the file that nobody wrote."""
    message = "the call cannot be made" if str(file) in error.message else error.message
    problems = tuple(
        replace(problem, where="the call") if problem.where == str(file) else problem
        for problem in error.problems
    )
    return CatalogError(message, problems=problems, hint=error.hint)


def _check_single(prepared: Prepared) -> None:
    if len(prepared.trials) != 1:
        found = ", ".join(f"{one.id} {one.version}" for one in prepared.skills)
        problem = Problem(where="--skill", expected="one skill", found=found)
        raise CatalogError("a call needs one skill", problems=(problem,))


def _task(given: Mapping[str, Any], check: Check | None) -> dict[str, Any]:
    if check is None:
        return {"id": _TASK_ID, "inputData": given, "expectedOutput": {}}
    return {
        "id": _TASK_ID,
        "inputData": given,
        "expectedOutput": {"type": check.kind, **check.expected},
        "evaluator": {"type": check.kind},
    }


async def _called(prepared: Prepared) -> TrialRecord:
    kept = _Kept([])
    runner = Runner(
        adapters=prepared.adapters,
        judge=Panel(prepared.scorers),
        sink=kept,
        options=runner_options(prepared),
        clock=Clock(),
        observe=lambda _record: None,
    )
    await run_and_close(runner, prepared)
    return kept.records[0]


def _score(score: Score) -> dict[str, Any]:
    return {
        "scorer": score.scorer,
        "rule": score.rule,
        "check": score.check,
        "verdict": score.verdict.value,
        "score": score.score,
        "reason": score.reason,
        "evidence": score.evidence,
    }
