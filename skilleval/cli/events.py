"""The event log: one JSON line for each thing that happens in a run, as it happens."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from skilleval.errors import WriteError

if TYPE_CHECKING:
    from skilleval.app.evaluate import Outcome
    from skilleval.app.opening import OpenRun
    from skilleval.app.prepare import Prepared
    from skilleval.domain.records import TrialRecord
    from skilleval.domain.trials import Trial
    from skilleval.results.redaction import Redactor

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class EventLog:
    """Writes the events of a run; none of them holds more than a row would.

    The types and names are those of agent-skills-eval where it has them, with `run-start`, `run-end` and an `error`
    for each trial that did not complete beside them.
    """

    write: Callable[[Mapping[str, Any]], None]
    prepared: Prepared
    redactor: Redactor
    left: Counter[_Key] = field(default_factory=Counter)
    seen: set[_Key] = field(default_factory=set)

    def start(self, run: OpenRun) -> None:
        """Tell that a run begins, or goes on."""
        self.left.update(_suite(trial) for trial in run.left.pending)
        models = self.prepared.models
        self._event(
            "run-start",
            run_id=run.manifest["run_id"],
            trials=len(run.left.pending),
            kept=run.left.n_kept,
            skills=[skill.id for skill in self.prepared.skills],
            target=models.subject.model if models.subject else None,
            judge=models.judge.model if models.judge else None,
        )

    def begun(self, trial: Trial) -> None:
        """Tell that a trial begins; the first one of a skill begins its suite."""
        suite = _suite(trial)
        if suite not in self.seen:
            self.seen.add(suite)
            self._event("suite-start", skill=suite[0], mode=suite[1], evalsCount=self.left[suite])
        self._event("eval-start", **_ids(trial))

    def __call__(self, record: TrialRecord) -> None:
        """Tell what came of a trial; the last one of a skill ends its suite."""
        trial, attempt = record.trial, record.attempt
        said = self.redactor.line(_texts(record))
        if attempt.status.value != "completed":
            failure = {"failureKind": attempt.failure_kind, "message": said["tries"][0]["message"]}
            self._event("error", **_ids(trial), status=attempt.status.value, **failure)
        self._event("eval-end", **_ids(trial), **_result(record), grading=said["scores"])
        suite = _suite(trial)
        self.left[suite] -= 1
        if not self.left[suite]:
            self._event("suite-end", skill=suite[0], mode=suite[1])

    def end(self, outcome: Outcome) -> None:
        """Tell how the run ended."""
        facts = outcome.facts()
        self._event("run-end", **{key: facts[key] for key in ("run_id", "exit_code", "statuses", "verdict")})

    def _event(self, kind: str, /, **fields: Any) -> None:
        from skilleval.clock import Clock

        moment = Clock().utc().isoformat(timespec="milliseconds")
        self.write({"ts": moment, "type": kind, **fields})


def _suite(trial: Trial) -> _Key:
    return trial.skill.id, trial.condition.mode.value


def _ids(trial: Trial) -> dict[str, Any]:
    return {
        "skill": trial.skill.id,
        "evalId": trial.task.id,
        "mode": trial.condition.mode.value,
        "repeat": trial.repeat,
        "trialId": trial.trial_id,
    }


def _result(record: TrialRecord) -> dict[str, Any]:
    attempt = record.attempt
    return {
        "status": attempt.status.value,
        "timing": {"duration_ms": attempt.latency_ms, "total_tokens": attempt.usage.total_tokens},
        "costUsd": attempt.usage.cost_usd,
        "reusedFrom": record.reused_from,
    }


def _texts(record: TrialRecord) -> dict[str, Any]:
    """Give what must not be told as it is, in the form of a row, so that it is redacted like one."""
    grading = [
        {"check": one.check, "verdict": one.verdict.value, "score": one.score, "reason": one.reason}
        for one in record.scores
    ]
    return {"trial": {}, "tries": [{"message": record.attempt.message}], "scores": grading}


@contextmanager
def event_writer(path: Path | None) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Give what appends a JSON line to a file, or to stderr where there is none.

    Raises:
        WriteError: the file cannot be written.
    """
    if path is None:
        yield lambda event: click.echo(_line(event), err=True)
        return
    with _opened(path) as file:

        def write(event: Mapping[str, Any]) -> None:
            try:
                file.write(f"{_line(event)}\n")
                file.flush()
            except OSError as error:
                msg = f"cannot write {path}: {error.strerror}"
                raise WriteError(msg) from None

        yield write


def _opened(path: Path) -> IO[str]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror}"
        raise WriteError(msg, hint="choose another file with --log-file") from None


def _line(event: Mapping[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False, allow_nan=False, default=str)
