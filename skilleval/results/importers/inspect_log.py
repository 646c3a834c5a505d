"""Logs of Inspect (`.eval` or JSON), by their published format; Inspect itself is not needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skilleval.domain.attempts import Status, Usage
from skilleval.results.importers.base import (
    ImportedBenchmark,
    ImportedRun,
    ImportedTrial,
    Importer,
    ImportOptions,
)
from skilleval.results.importers.inspect_files import Log, is_log, logs, read_log
from skilleval.results.importers.inspect_scores import checks_of
from skilleval.results.importers.node import Node, naive_times, unusable

_TIMES = {"time", "working"}
_MS = 1000
_ATTACHED = "attachment://"
_TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "total_tokens": "total_tokens",
    "cached_tokens": "input_tokens_cache_read",
}


def read(path: Path, options: ImportOptions) -> tuple[ImportedRun, ...]:
    """Read a log, or all logs in a folder: each is a run of its own."""
    found = tuple(_run(read_log(file), options) for file in logs(path))
    if not found:
        raise unusable(str(path), "", "at least one Inspect log", "none")
    return found


def _run(log: Log, options: ImportOptions) -> ImportedRun:
    about, stats = log.header["eval"], log.header.get("stats")
    status = log.header.get("status").value if log.is_whole else "cancelled"
    times = {key: _moment(stats, f"{key}_at") for key in ("started", "completed")}
    packages, version = about.get("packages"), about.get("task_version")
    return ImportedRun(
        benchmark=ImportedBenchmark(
            id=options.benchmark or about["task"].name(),
            version=None if version.value is None else str(version.value),
        ),
        trials=tuple(_trial(sample, about, options) for sample in log.samples),
        started_at=times["started"],
        ended_at=times["completed"],
        interrupted=status != "success",
        n_planned=_planned(about),
        tool_version=None if packages.value is None else packages.get("inspect_ai").value,
        published=log.header.get("results").value if log.is_whole else None,
        remarks=(*_remarks(status, log), *naive_times(stats, ("started_at", "completed_at"))),
    )


def _remarks(status: Any, log: Log) -> Iterator[str]:
    if status != "success":
        yield f"{log.header.where}: the evaluation did not come to its end (status {status})"
    limited = sum(sample.get("limit").value is not None for sample in log.samples)
    if limited:
        yield f"{limited} samples reached a limit and were scored all the same: they count as Inspect counts them"


def _planned(about: Node) -> int | None:
    dataset, config = about.get("dataset"), about.get("config")
    ids = dataset.get("sample_ids") if isinstance(dataset.value, dict) else dataset
    epochs = config.get("epochs") if isinstance(config.value, dict) else config
    if not isinstance(ids.value, list):
        return None
    limit = config.get("limit").value if isinstance(config.value, dict) else None
    n = min(len(ids.value), limit) if isinstance(limit, int) else len(ids.value)
    return n * (1 if epochs.value is None else epochs.whole())


def _moment(node: Node, key: str) -> Any:
    """Give a time; an empty text stands for none there."""
    if not isinstance(node.value, dict) or node.get(key).value in (None, ""):
        return None
    return node[key].moment()


def _trial(sample: Node, about: Node, options: ImportOptions) -> ImportedTrial:
    model = about["model"].name()
    checks = tuple(checks_of(sample.get("scores")))
    status, kind, message = _status(sample, is_scored=bool(checks))
    said = sample.get("output")
    answered = said.get("model").value if isinstance(said.value, dict) else None
    solver = about.get("solver").value
    return ImportedTrial(
        where=f"{sample.where}: {sample.key}".removesuffix(": "),
        skill_id=options.skill or (solver if isinstance(solver, str) else about["task"].name()),
        model=options.model or model,
        sandbox=_sandbox(about),
        task_id=sample["id"].name(),
        repeat=_repeat(sample),
        input=_input(sample),
        expected=None if sample.get("target").value is None else {"value": sample["target"].value},
        status=status,
        failure_kind=kind,
        message=message,
        output=_answer(sample),
        latency_ms=_latency(sample),
        usage=_usage(sample, model),
        response_model=answered or None,
        started_at=_moment(sample, "started_at"),
        ended_at=_moment(sample, "completed_at"),
        checks=checks,
    )


def _repeat(sample: Node) -> int:
    epoch = sample.get("epoch")
    number = 1 if epoch.value is None else epoch.whole()
    if number < 1:
        epoch.refuse("an epoch, from 1 on")
    return number - 1


def _status(sample: Node, *, is_scored: bool) -> tuple[Status, str | None, str | None]:
    """Say how a sample ended: an error is nobody's failure there, a limit only where nothing was scored."""
    error, limit = sample.get("error"), sample.get("limit")
    if error.value is not None:
        return Status.PROVIDER_ERROR, "sample_error", error["message"].text()
    if limit.value is None:
        return Status.COMPLETED, None, None
    kind = limit["type"].text()
    ended = Status.TIMEOUT if kind in _TIMES and not is_scored else Status.COMPLETED
    return ended, f"limit_{kind}", f"reached the {kind} limit"


def _sandbox(about: Node) -> str | None:
    """Give the kind of the sandbox: a text, the first of a list, or the type in an object, by the age of the log."""
    said = about.get("sandbox").value
    if isinstance(said, dict):
        said = said.get("type")
    elif isinstance(said, list):
        said = next(iter(said), None)
    return said if isinstance(said, str) else None


def _input(sample: Node) -> dict[str, Any]:
    asked: dict[str, Any] = {"input": sample["input"].value}
    choices = sample.get("choices").value
    return {**asked, "choices": choices} if choices else asked


def _answer(sample: Node) -> str | None:
    """Give what the model said last; a long text may stand apart, among the attachments."""
    said = sample.get("output")
    text = said.get("completion").value if isinstance(said.value, dict) else None
    if text is None and isinstance(said.value, dict):
        text = next((_content(choice) for choice in said.get("choices").items()), None)
    if isinstance(text, str) and text.startswith(_ATTACHED):
        text = (sample.get("attachments").value or {}).get(text.removeprefix(_ATTACHED), text)
    return None if text is None else json.dumps(text, ensure_ascii=False)


def _content(choice: Node) -> Any:
    content = choice["message"].get("content").value
    if not isinstance(content, list):
        return content
    return "".join(part.get("text", "") for part in content if isinstance(part, dict))


def _latency(sample: Node) -> float | None:
    """Give the working time, which leaves out waits and retries, else the whole one; both are in seconds there."""
    times = (sample.get(key) for key in ("working_time", "total_time"))
    return next((node.amount() * _MS for node in times if node.value is not None), None)


def _usage(sample: Node, model: str) -> Usage:
    """Give what the evaluated model took; that of judges stands under other names."""
    used = sample.get("model_usage")
    own = used.get(model) if isinstance(used.value, dict) else used
    if not isinstance(own.value, dict):
        return Usage()
    counts = {ours: own.get(theirs) for ours, theirs in _TOKENS.items()}
    cost = own.get("total_cost")
    return Usage(
        **{name: None if node.value is None else node.whole() for name, node in counts.items()},
        cost_usd=None if cost.value is None else cost.amount(),
    )


def recognises(path: Path) -> bool:
    """Say whether this is such a log, or a folder that has one in it or below."""
    return is_log(path) or (path.is_dir() and next(logs(path), None) is not None)


INSPECT = Importer(name="inspect", what="log of Inspect", recognises=recognises, read=read)
