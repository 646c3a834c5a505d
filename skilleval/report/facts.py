"""The lines about a run that every format shows: what, when, how much, and what stands behind the figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilleval.report.document import Provenance, Report, RunFacts, State
from skilleval.report.numbers import count, counted
from skilleval.report.phrases import unjudged
from skilleval.report.text import json_text, one_line

STATE_SHAPES = {
    State.PASSED: "✓",
    State.FAILED: "✕",
    State.INCONCLUSIVE: "○",
    State.INFO: "•",
}

_ISOLATIONS = {
    "trial": "trial (each trial had a process of its own)",
    "worker": "worker (one process served many trials)",
}

_ROLES = (("model", "model"), ("judge", "judge"), ("second judge", "second_judge"))
_NOBODY, _SAME, _CHAT = "none", "same", "chat"
_TIME_LENGTH = len("2026-01-31T12:00")


def run_line(run: RunFacts) -> list[str]:
    """Give the facts under the title, the date first; what is not known is left out."""
    benchmark = f"{run.benchmark_id}@{run.benchmark_version}" if run.benchmark_version else run.benchmark_id
    facts = [
        _moment(run.started_at),
        benchmark,
        _amount(run),
        f"experiment {run.experiment}" if run.experiment else "",
        f"run {run.run_id}" if run.run_id else "",
        "interrupted" if run.interrupted else "",
        "latency: serial, one at a time" if run.latency == "serial" else "",
    ]
    return [one_line(fact) for fact in facts if fact]


def _amount(run: RunFacts) -> str:
    if run.n_tasks is None:
        return ""
    tasks = counted(run.n_tasks, "task")
    planned = tasks if run.n_repeats is None else f"{tasks} × {counted(run.n_repeats, 'repeat')}"
    if run.interrupted and run.n_trials is not None and run.n_planned is not None:
        done = f"{count(run.n_trials)} of {counted(run.n_planned, 'trial')} done"
        return f"{planned} planned, {done}{unjudged(run.n_not_judged)}"
    return planned


def _moment(moment: str | None) -> str:
    """Give a time to the minute; the whole of it stands under provenance."""
    return "" if moment is None else f"{moment[:_TIME_LENGTH].replace('T', ' ')} UTC"


def isolation(provenance: Provenance) -> str:
    """Say where the skills ran and what that place really enforced."""
    if not provenance.sandbox:
        return ""
    enforced = ", ".join(provenance.guarantees) if provenance.guarantees else "nothing is enforced"
    return one_line(f"{provenance.sandbox}: {enforced}")


def origins(report: Report) -> list[tuple[str, str]]:
    """Give name and value of each fact of the provenance that fits a line."""
    provenance = report.provenance
    facts = [
        ("command", provenance.command),
        ("overrides", " ".join(provenance.overrides)),
        ("started", report.run.started_at or ""),
        ("ended", report.run.ended_at or ""),
        *((role, _model(provenance.config, key)) for role, key in _ROLES),
        ("sandbox", isolation(provenance)),
        ("isolation", _processes(report)),
        ("seeds", _joined(provenance.seeds)),
        ("trials", _by_status(provenance.counts)),
        ("reused", _reused(provenance.reused)),
        ("latency", _latency(report)),
        ("benchmark", _joined(provenance.benchmark)),
        ("git", _joined(provenance.git)),
        ("platform", _joined(provenance.platform)),
        ("versions", _joined(provenance.versions)),
        ("tables", _joined(provenance.tables)),
    ]
    return [(name, one_line(value)) for name, value in facts if value]


def _model(config: Mapping[str, Any], key: str) -> str:
    """Name a model and where it was asked, as far as the settings say; empty where none was."""
    settings = config.get(key)
    if not isinstance(settings, Mapping) or settings.get("kind") in {None, _NOBODY}:
        return ""
    if settings["kind"] == _SAME and not _model(config, "model"):
        return ""
    name, place = str(settings.get("name") or ""), str(settings.get("base_url") or "")
    if settings["kind"] == _SAME:
        return f"{name}, asked as the model is" if name else "the model itself"
    return f"{name} at {place}" if name and place else name


def _processes(report: Report) -> str:
    """Say what trials had to themselves; a model that is asked has no process of ours."""
    if report.summary and all(row.get("adapter") == _CHAT for row in report.summary):
        return ""
    return ", ".join(_ISOLATIONS.get(one, one) for one in report.provenance.isolation)


def _reused(reused: Mapping[str, Any]) -> str:
    return ", ".join(f"{counted(int(n), 'attempt')} of run {run_id}" for run_id, n in reused.items())


def _latency(report: Report) -> str:
    """Say under which load latencies were measured."""
    if report.run.latency == "serial":
        return "serial: completed trials called once more, one at a time"
    load = concurrency(report)
    return f"as the trials ran, at most {load} at once" if report.run.latency and load else ""


def concurrency(report: Report) -> str:
    """Give the concurrency that trials had, `1–4` where sessions differed; else what was asked for."""
    if report.run.concurrency:
        return "–".join(str(value) for value in sorted(set(report.run.concurrency)))
    runner = report.provenance.config.get("runner")
    asked = runner.get("concurrency") if isinstance(runner, Mapping) else None
    return "" if asked is None else str(asked)


def _by_status(counts: Mapping[str, Any]) -> str:
    """Say how the trials ended: `6 completed, 12 skill_error`."""
    found = counts.get("by_status", counts)
    statuses = found if isinstance(found, Mapping) else counts
    return ", ".join(f"{_short(n)} {status}" for status, n in statuses.items() if n is not None)


def _joined(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {_short(value)}" for key, value in values.items() if value is not None)


def _short(value: Any) -> str:
    """Give a value of the manifest in words."""
    if isinstance(value, Mapping):
        return f"({_joined(value)})"
    if isinstance(value, (list, tuple)):
        return " ".join(_short(item) for item in value)
    return value if isinstance(value, str) else json_text(value)
