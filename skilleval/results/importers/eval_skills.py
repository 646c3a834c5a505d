"""Reports of the tool `eval-skills`: a JSON list, one object a skill."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from skilleval.domain.attempts import Status, Usage
from skilleval.domain.scores import Verdict
from skilleval.results.importers.base import (
    ImportedBenchmark,
    ImportedCheck,
    ImportedRun,
    ImportedTrial,
    Importer,
    ImportOptions,
)
from skilleval.results.importers.files import glimpse, read_json
from skilleval.results.importers.node import Node, unusable

_RULES = {"exact_match": "exact"}
"""Their names of rules that we call otherwise."""
_CRASHED = "unknown"
"""The `scorerType` of a result whose scorer crashed: it says nothing of the skill."""
SCORER = "task"
_STATUSES = ("pass", "fail", "error", "timeout")


def read(path: Path, options: ImportOptions) -> tuple[ImportedRun, ...]:
    """Read a report; one that tells of several benchmarks gives a run for each."""
    reports = list(read_json(path).items())
    if not reports:
        raise unusable(str(path), "", "at least one report of a skill", "an empty list")
    by_benchmark: dict[str, list[Node]] = {}
    for report in reports:
        by_benchmark.setdefault(report["benchmarkId"].name(), []).append(report)
    return tuple(_run(name, found, options) for name, found in by_benchmark.items())


def _run(benchmark: str, reports: list[Node], options: ImportOptions) -> ImportedRun:
    moments = [report["timestamp"].moment() for report in reports]
    trials = tuple(trial for report in reports for trial in _trials(report, options))
    return ImportedRun(
        benchmark=ImportedBenchmark(id=options.benchmark or benchmark),
        trials=trials,
        ended_at=max(moments),
        published=[
            {key: report.get(key).value for key in ("skillId", "summary", "latency", "tokenCost")}
            for report in reports
        ],
        remarks=remarks(trials, options),
    )


def remarks(trials: tuple[ImportedTrial, ...], options: ImportOptions) -> tuple[str, ...]:
    """Say what these results cannot tell."""
    broken = sum(trial.status is not Status.COMPLETED for trial in trials)
    told = [
        "eval-skills keeps no inputs, expected values, tags and limits: name the benchmark with --benchmark FILE"
    ]
    told = [] if options.benchmark else told
    if broken:
        told.append(f"{broken} broken calls have no latency: eval-skills writes 0 for all of them")
    return tuple(told)


def _trials(report: Node, options: ImportOptions) -> Iterator[ImportedTrial]:
    skill, version = report["skillId"].name(), report.get("skillVersion")
    for result in report["taskResults"].items():
        yield trial_of(
            result,
            skill_id=skill,
            skill_version=None if version.value is None else version.text(),
            model=options.model,
        )


def trial_of(
    result: Node,
    *,
    skill_id: str,
    skill_version: str | None,
    adapter: str | None = None,
    model: str | None = None,
) -> ImportedTrial:
    """Read one result; the store of that tool keeps the same object."""
    said = result["status"].text()
    if said not in _STATUSES:
        result["status"].refuse(f"one of {', '.join(_STATUSES)}")
    crashed = said == "error" and result.get("scorerType").value == _CRASHED
    status = Status.COMPLETED if crashed else _status(said)
    error, weight, output = result.get("error"), result.get("weight"), result.value.get("output")
    return ImportedTrial(
        where=f"{result.where}: {result.key}",
        skill_id=skill_id,
        skill_version=skill_version,
        adapter=adapter,
        model=model,
        task_id=result["taskId"].name(),
        repeat=_repeat(result),
        task_weight=1.0 if weight.value is None else weight.amount(),
        status=status,
        failure_kind="scorer_error" if crashed else None,
        message=None if error.value is None else error.text(),
        output=json.dumps(output, ensure_ascii=False) if "output" in result.value else None,
        # Of broken calls they write 0 ms, and of a call that took none there is nothing to measure either.
        latency_ms=result["latencyMs"].amount() or None,
        usage=_usage(result.get("usage")),
        checks=(_check(result, said, is_ungraded=crashed),) if status is Status.COMPLETED else (),
    )


def _status(said: str) -> Status:
    return {"error": Status.SKILL_ERROR, "timeout": Status.TIMEOUT}.get(said, Status.COMPLETED)


def _repeat(result: Node) -> int:
    run = result.get("runId")
    number = 1 if run.value is None else run.whole()
    if number < 1:
        run.refuse("a number of a run, from 1 on")
    return number - 1


def _usage(usage: Node) -> Usage:
    if usage.value is None:
        return Usage()
    names = {
        "input_tokens": "promptTokens",
        "output_tokens": "completionTokens",
        "total_tokens": "totalTokens",
    }
    known = {ours: usage.get(theirs) for ours, theirs in names.items()}
    return Usage(**{name: None if node.value is None else node.whole() for name, node in known.items()})


def _check(result: Node, said: str, *, is_ungraded: bool) -> ImportedCheck:
    kind = result.get("scorerType")
    rule = _CRASHED if kind.value is None else _RULES.get(kind.text(), kind.text())
    reason = result.get("reason")
    verdict = Verdict.PASSED if said == "pass" else Verdict.FAILED
    return ImportedCheck(
        scorer=SCORER,
        rule=rule,
        check_id=rule,
        check=rule,
        verdict=Verdict.UNGRADED if is_ungraded else verdict,
        score=None if is_ungraded else result["score"].share(),
        reason="the scorer crashed" if is_ungraded else str(reason.value or ""),
    )


def recognises(path: Path) -> bool:
    """Say whether this is such a report."""
    found = glimpse(path)
    first = found.value[0] if found and isinstance(found.value, list) and found.value else None
    return isinstance(first, dict) and {"skillId", "benchmarkId", "taskResults"} <= first.keys()


REPORT = Importer(name="eval-skills", what="JSON report of eval-skills", recognises=recognises, read=read)
