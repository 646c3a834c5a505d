"""The rows of the drawer's blocks: plain JSON with the keys that `drawer.js` reads; what is not known is left out.

A text is given as its place among the texts of its block, where equal texts stand once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

from skilleval.report.details import (
    CheckDetail,
    ConditionDetail,
    TaskDetail,
    TrialDetail,
    TryDetail,
    Turn,
)
from skilleval.report.drawer_levels import Level
from skilleval.report.excerpt import Excerpt
from skilleval.report.numbers import count, counted, duration, money, rate

_PASSED = "passed"
_COMPLETED = "completed"


class Texts:
    """The texts of one block, each once: `[text]`, or `[beginning, length of the whole]`."""

    def __init__(self) -> None:
        self.all: list[list[str | int]] = []
        self._places: dict[tuple[str | int, ...], int] = {}

    def place(self, text: Excerpt | None, limit: int) -> int | None:
        """Add a text, cut to a length, and give its place; null where there is none."""
        if text is None:
            return None
        kept = text.text[:limit]
        entry = (kept,) if len(kept) == text.length else (kept, text.length)
        if entry not in self._places:
            self._places[entry] = len(self.all)
            self.all.append(list(entry))
        return self._places[entry]


def task_row(task: TaskDetail, level: Level) -> list[Any]:
    """Give the name and the tags of a task."""
    return [_name(task.task_id, level), [_name(tag, level) for tag in task.tags[: level.parts]]]


def condition_rows(conditions: Sequence[ConditionDetail], level: Level) -> list[list[str]]:
    """Give the parts of the names of conditions: the skill, and of the rest what they differ in."""
    driven = [(one.mode, one.adapter, one.model, one.sandbox) for one in conditions]
    telling = [len(set(values)) > 1 for values in zip(*driven, strict=True)]
    return [
        [_name(part, level) for part in (one.skill_id, one.skill_version, *compress(parts, telling)) if part]
        for one, parts in zip(conditions, driven, strict=True)
    ]


def trial_row(trial: TrialDetail, texts: Texts, level: Level) -> dict[str, Any]:
    """Give a trial; `left_out` names the lists that are longer than what is kept of them."""
    limit = level.passed if _is_fine(trial) else level.failed
    lists = (("check", trial.checks), ("turn", trial.transcript), ("execution", trial.tries))
    row = {
        "repeat": trial.repeat,
        "status": _name(trial.status, level),
        "verdict": _name(trial.verdict, level),
        "kind": None if trial.failure_kind is None else _name(trial.failure_kind, level),
        "facts": [_name(fact, level) for fact in _facts(trial)],
        "notes": [_name(note, level) for note in trial.notes[: level.parts]],
        "message": texts.place(trial.message, limit),
        "output": texts.place(trial.output, limit),
        "stdout": texts.place(trial.stdout, limit),
        "stderr": texts.place(trial.stderr, limit),
        "turns": [_turn_row(turn, texts, limit, level) for turn in trial.transcript[: level.parts]],
        "checks": [_check_row(check, texts, limit, level) for check in _telling(trial.checks, level)],
        "tries": [_try_row(one, texts, limit, level) for one in trial.tries[-level.parts :]],
        "left_out": [
            counted(len(parts) - level.parts, f"more {what}")
            for what, parts in lists
            if len(parts) > level.parts
        ],
    }
    return _known(row)


def _is_fine(trial: TrialDetail) -> bool:
    return trial.status == _COMPLETED and trial.verdict == _PASSED


def _telling(checks: Sequence[CheckDetail], level: Level) -> list[CheckDetail]:
    """Keep the checks that did not pass rather than those that did."""
    return sorted(checks, key=lambda check: check.verdict == _PASSED)[: level.parts]


def _facts(trial: TrialDetail) -> Iterable[str]:
    """Give what was measured, as people read it."""
    if trial.latency_ms is not None:
        yield duration(trial.latency_ms)
    if trial.cost_usd is not None:
        yield f"{money(trial.cost_usd)} USD"
    tokens = ((trial.input_tokens, "in"), (trial.output_tokens, "out"))
    known = [f"{count(n)} tokens {way}" for n, way in tokens if n is not None]
    yield from known or ([] if trial.total_tokens is None else [f"{count(trial.total_tokens)} tokens"])
    if trial.exit_code:
        yield f"exit code {trial.exit_code}"
    if trial.response_model:
        yield f"answered by {trial.response_model}"
    if trial.reused_from:
        yield f"attempt of run {trial.reused_from}"


def _check_row(check: CheckDetail, texts: Texts, limit: int, level: Level) -> dict[str, Any]:
    name = Excerpt(text=check.check, length=len(check.check)) if check.check else None
    return _known(
        {
            "scorer": _name(check.scorer, level),
            "check": texts.place(name, limit),
            "verdict": _name(check.verdict, level),
            "score": None if check.score is None else rate(check.score),
            "weight": None if check.weight is None else rate(check.weight),
            "optional": not check.required,
            "kind": None if check.failure_kind is None else _name(check.failure_kind, level),
            "reason": texts.place(check.reason, limit),
            "evidence": texts.place(check.evidence, limit),
        }
    )


def _turn_row(turn: Turn, texts: Texts, limit: int, level: Level) -> list[Any]:
    return [_name(turn.role, level), _name(turn.name, level), texts.place(turn.text, limit)]


def _try_row(one: TryDetail, texts: Texts, limit: int, level: Level) -> dict[str, Any]:
    facts = [] if one.latency_ms is None else [duration(one.latency_ms)]
    facts += [] if one.cost_usd is None else [f"{money(one.cost_usd)} USD"]
    facts += [f"exit code {one.exit_code}"] if one.exit_code else []
    facts += [f"after a pause of {duration(one.backoff_ms)}"] if one.backoff_ms else []
    return _known(
        {
            "index": one.try_index,
            "status": _name(one.status, level),
            "kind": None if one.failure_kind is None else _name(one.failure_kind, level),
            "facts": facts,
            "message": texts.place(one.message, limit),
            "output": texts.place(one.output, limit),
            "stdout": texts.place(one.stdout, limit),
            "stderr": texts.place(one.stderr, limit),
        }
    )


def _name(text: str, level: Level) -> str:
    return text if len(text) <= level.names else f"{text[: level.names]}…"


def _known(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in row.items() if value is not None and value is not False and value != []
    }
