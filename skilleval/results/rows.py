"""Finished trials as rows: what is written to the journal, and how its lines become tables.

A journal line holds the columns of the trial itself, its tries, scores and judgements; the columns of the attempt
stand once, in the last try, and are copied into the trial when the tables are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from skilleval.domain.attempts import Reply, Status, Try, Usage
from skilleval.domain.hashes import canonical_json
from skilleval.domain.records import TrialRecord
from skilleval.domain.scores import Judgement, Score, Verdict
from skilleval.domain.tasks import Task
from skilleval.domain.trials import Trial
from skilleval.results.excerpts import shorten
from skilleval.results.redaction import Redactor
from skilleval.results.schema import TRIALS, TRIES

SHARED = tuple(name for name in TRIALS.names if name in TRIES.names and name not in {"run_id", "trial_id"})
"""Columns that a trial takes from its last try; `started_at` from the first."""

_OF_RECORD = (
    "ended_at",
    "queue_ms",
    "scoring_ms",
    "concurrency",
    "in_flight",
    "serial_latency_ms",
    "reused_from",
)
_OF_USAGE = ("input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cost_usd")
_OF_REPLY = (
    "output",
    "failure_kind",
    "message",
    "latency_ms",
    "spawn_ms",
    "stdout",
    "stderr",
    "exit_code",
    "output_bytes",
    "output_encoding_errors",
    "request",
    "tool_calls",
    "response_model",
)
_OF_TRY = ("try_index", "started_at", "backoff_ms")
_OF_SCORE = (
    "scorer",
    "rule",
    "scorer_version",
    "check_id",
    "check",
    "weight",
    "required",
    "score",
    "reason",
    "evidence",
    "reused_from",
    "failure_kind",
)
_OF_JUDGEMENT = (
    "purpose",
    "model",
    "started_at",
    "request",
    "reply",
    "failure_kind",
    "message",
    "latency_ms",
)


class RowBuilder:
    """Builds the journal's line of a trial. Texts that many trials share are made once."""

    def __init__(self, *, run_id: str, sweep_id: str | None, redactor: Redactor | None = None) -> None:
        self._run_id = run_id
        self._sweep_id = sweep_id
        self._redact = (redactor or Redactor(())).line
        self._static: dict[tuple[str, str], tuple[Task, dict[str, Any]]] = {}

    def line(self, record: TrialRecord) -> dict[str, Any]:
        """Give the line of a finished trial, ready to be encoded as JSON."""
        line = self._redact(
            {
                "trial": self._trial(record),
                "tries": [_try_row(one) for one in record.tries],
                "scores": [_score_row(score) for score in record.scores],
                "judgements": [row for score in record.scores for row in _judgement_rows(score)],
            }
        )
        for row in (*line["tries"], *line["scores"], *line["judgements"]):
            shorten(row)
        return line

    def _trial(self, record: TrialRecord) -> dict[str, Any]:
        trial = record.trial
        key = (trial.condition_id, trial.task.id)
        task, static = self._static.get(key, (None, {}))
        if task is not trial.task:  # what was redacted may differ from trial to trial
            static = self._static_columns(trial)
            self._static[key] = trial.task, static
        return static | {
            "trial_id": trial.trial_id,
            "repeat": trial.repeat,
            "seed": trial.seed,
            "ended_at": stamp(record.ended_at),
            "n_tries": len(record.tries),
            "concurrency": record.concurrency,
            "in_flight": record.in_flight,
            "serial_latency_ms": record.serial_latency_ms,
            "serial_status": None if record.serial_status is None else record.serial_status.value,
            "reused_from": record.reused_from,
            "call_key": trial.call_key or None,
            "queue_ms": record.queue_ms,
            "scoring_ms": record.scoring_ms,
        }

    def _static_columns(self, trial: Trial) -> dict[str, Any]:
        condition, benchmark, task = trial.condition, trial.benchmark, trial.task
        return {
            "run_id": self._run_id,
            "sweep_id": self._sweep_id,
            "condition_id": trial.condition_id,
            "skill_id": condition.skill_id,
            "skill_version": condition.skill_version,
            "skill_digest": condition.skill_digest,
            "adapter": condition.adapter,
            "model": condition.model,
            "sandbox": condition.sandbox,
            "isolation": condition.isolation,
            "mode": condition.mode.value,
            "benchmark_id": benchmark.id,
            "benchmark_version": benchmark.version,
            "task_id": task.id,
            "task_tags": list(task.tags),
            "task_weight": float(task.weight),
            "input": canonical_json(dict(task.input)),
            "expected": canonical_json(dict(task.expected)),
            "timeout_ms": trial.timeout_ms,
        }


def _try_row(one: Try) -> dict[str, Any]:
    reply = one.reply
    return {
        "try_index": one.try_index,
        "status": reply.status.value,
        "failure_kind": reply.failure_kind,
        "message": reply.message,
        "output": reply.output,
        "output_bytes": reply.output_bytes,
        "output_encoding_errors": reply.output_encoding_errors,
        "stdout": reply.stdout,
        "stderr": reply.stderr,
        "exit_code": reply.exit_code,
        "latency_ms": reply.latency_ms,
        "spawn_ms": reply.spawn_ms,
        **_usage_columns(reply.usage),
        "request": reply.request,
        "tool_calls": reply.tool_calls,
        "response_model": reply.response_model,
        "notes": list(reply.notes),
        "started_at": stamp(one.started_at),
        "backoff_ms": one.backoff_ms,
    }


def _usage_columns(usage: Usage) -> dict[str, Any]:
    return {name: getattr(usage, name) for name in _OF_USAGE}


def _judgement_rows(score: Score) -> Iterator[dict[str, Any]]:
    """Give the calls of a judge that led to a score; those of a reused one stand in the run that made them."""
    if score.reused_from is not None:
        return
    for index, one in enumerate(score.judgements):
        yield {
            **{name: getattr(one, name) for name in _OF_JUDGEMENT},
            **_usage_columns(one.usage),
            "started_at": stamp(one.started_at),
            "scorer": score.scorer,
            "check_id": score.check_id,
            "call_index": index,
        }


def _score_row(score: Score) -> dict[str, Any]:
    return {
        "scorer": score.scorer,
        "rule": score.rule,
        "scorer_version": score.scorer_version,
        "check_id": score.check_id,
        "check": score.check,
        "weight": score.weight,
        "required": score.required,
        "score": score.score,
        "verdict": score.verdict.value,
        "passed": score.passed,
        "reason": score.reason,
        "evidence": score.evidence,
        "score_key": score.score_key or None,
        "reused_from": score.reused_from,
        "failure_kind": score.failure_kind,
    }


def record_from(
    trial: Trial,
    row: Mapping[str, Any],
    tries: Iterable[Mapping[str, Any]],
    scores: Iterable[Mapping[str, Any]],
    judgements: Iterable[Mapping[str, Any]] = (),
) -> TrialRecord:
    """Give the record that rows of the tables were made of; whether a retry could help is not kept in them."""
    done = [_try(one) for one in tries]
    calls: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in judgements:
        calls.setdefault((one["scorer"], one["check_id"]), []).append(one)
    return TrialRecord(
        trial=trial,
        tries=tuple(sorted(done, key=lambda one: one.try_index)),
        scores=tuple(_score(one, calls.get((one["scorer"], one["check_id"]), ())) for one in scores),
        serial_status=None if row["serial_status"] is None else Status(row["serial_status"]),
        **{name: row[name] for name in _OF_RECORD},
    )


def _try(row: Mapping[str, Any]) -> Try:
    return Try(reply=reply_from(row), **{name: row[name] for name in _OF_TRY})


def reply_from(row: Mapping[str, Any]) -> Reply:
    """Give the reply that a row of `tries`, or of `trials`, was made of."""
    usage = Usage(**{name: row[name] for name in _OF_USAGE})
    values = {name: row[name] for name in _OF_REPLY}
    return Reply(status=Status(row["status"]), usage=usage, notes=tuple(row["notes"] or ()), **values)


def _score(row: Mapping[str, Any], calls: Iterable[Mapping[str, Any]]) -> Score:
    values = {name: row[name] for name in _OF_SCORE}
    made = sorted(calls, key=lambda one: int(one["call_index"]))
    return Score(
        verdict=Verdict(row["verdict"]),
        score_key=row["score_key"] or "",
        judgements=tuple(_judgement(one) for one in made),
        **values,
    )


def _judgement(row: Mapping[str, Any]) -> Judgement:
    usage = Usage(**{name: row[name] for name in _OF_USAGE})
    return Judgement(usage=usage, **{name: row[name] for name in _OF_JUDGEMENT})


def stamp(moment: datetime | None) -> int | None:
    """Give a moment as microseconds since 1970 UTC: what the journal and the tables hold; null where not known."""
    return None if moment is None else round(moment.timestamp() * 1_000_000)


def storable(line: dict[str, Any], encode: Callable[[object], bytes]) -> bytes:
    """Encode a line; text that is not valid Unicode (lone surrogates) is made so instead of losing the trial."""
    try:
        return encode(line)
    except UnicodeEncodeError:
        return encode(_without_surrogates(line))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    return value
