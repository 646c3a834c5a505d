"""Trajectories of tau-bench: a JSON list, one object a task and trial."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skilleval.domain.attempts import Status
from skilleval.results.importers.base import (
    ImportedBenchmark,
    ImportedCheck,
    ImportedRun,
    ImportedTrial,
    Importer,
    ImportOptions,
    verdict_of,
)
from skilleval.results.importers.files import glimpse, read_json
from skilleval.results.importers.node import Node, unusable

BENCHMARK = "tau-bench"
AGENT = "agent"
SCORER = "reward"
_WHOLE = 1e-6
"""How near to 1 a reward must be to be a success: tau-bench's own tolerance."""
_KEYS = {"task_id", "reward", "traj", "trial"}
_PROVIDER = re.compile(
    r"\b(RateLimit|APIConnection|APITimeout|Timeout|InternalServer|ServiceUnavailable|Authentication|BadGateway)\w*"
)
"""Classes of errors that are the provider's fault, as client libraries name them."""


def read(path: Path, options: ImportOptions) -> tuple[ImportedRun, ...]:
    """Read the trajectories of one file as one run."""
    records = list(read_json(path).items())
    if not records:
        raise unusable(str(path), "", "at least one trajectory", "an empty list")
    trials = tuple(_trial(record, options) for record in records)
    unknown = "" if options.model else "the model is not in the file: name it with --model"
    return (
        ImportedRun(
            benchmark=ImportedBenchmark(id=options.benchmark or BENCHMARK),
            trials=trials,
            remarks=tuple(
                one
                for one in (
                    unknown,
                    "user_cost is that of the simulated user: what the agent cost is not known",
                )
                if one
            ),
        ),
    )


def _trial(record: Node, options: ImportOptions) -> ImportedTrial:
    info = record["info"]
    status, message = _status(info)
    return ImportedTrial(
        where=f"{record.where}: {record.key}",
        skill_id=options.skill or AGENT,
        adapter="agent",
        model=options.model,
        task_id=record["task_id"].name(),
        repeat=record["trial"].whole(),
        input=_part(info, ("user_id", "instruction")),
        expected=_part(info, ("actions", "outputs")),
        status=status,
        message=message,
        output=_answer(record),
        tool_calls=json.dumps(list(_calls(record)), ensure_ascii=False),
        checks=(_reward(record, info),) if status is Status.COMPLETED else (),
    )


def _status(info: Node) -> tuple[Status, str | None]:
    """Tell a broken run by the error it kept, and by the class of that error whose fault it was."""
    error = info.get("error")
    if error.value is None:
        return Status.COMPLETED, None
    told = f"{error.text()}\n{info.get('traceback').value or ''}"
    return (Status.PROVIDER_ERROR if _PROVIDER.search(told) else Status.SKILL_ERROR), error.text()


def _part(info: Node, keys: tuple[str, ...]) -> dict[str, Any] | None:
    task = info.get("task")
    if task.value is None:
        return None
    return {key: task.get(key).value for key in keys if task.get(key).value is not None}


def _reward(record: Node, info: Node) -> ImportedCheck:
    reward = record["reward"].share()
    passed = abs(reward - 1) < _WHOLE
    how = info.get("reward_info")
    return ImportedCheck(
        scorer=SCORER,
        rule=SCORER,
        check_id=SCORER,
        check="reward of 1",
        verdict=verdict_of(passed),
        score=reward,
        reason=f"reward {reward:g}",
        evidence="" if how.value is None else json.dumps(how.value.get("info"), ensure_ascii=False),
    )


def _answer(record: Node) -> str | None:
    """Give the last thing that the agent said; null where nothing of it is text."""
    said = [
        message["content"].text()
        for message in record["traj"].items()
        if message["role"].text() == "assistant" and message.get("content").value is not None
    ]
    return json.dumps(said[-1], ensure_ascii=False) if said else None


def _calls(record: Node) -> Iterator[dict[str, Any]]:
    for message in record["traj"].items():
        for call in message.get("tool_calls").items():
            function = call["function"]
            yield {
                "id": call.get("id").value,
                "name": function["name"].text(),
                "arguments": function.get("arguments").value,
            }


def recognises(path: Path) -> bool:
    """Say whether this is such a list."""
    found = glimpse(path)
    first = found.value[0] if found and isinstance(found.value, list) and found.value else None
    return isinstance(first, dict) and first.keys() >= _KEYS


TAU_BENCH = Importer(name="tau-bench", what="trajectories of tau-bench", recognises=recognises, read=read)
