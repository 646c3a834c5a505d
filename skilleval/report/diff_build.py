"""From the frames of a comparison to its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skilleval.report.diff_document import NOT_COMPARED, Diff, DiffRow, DiffRun, Values
from skilleval.report.diff_phrases import SHAPES, row_caveats, row_sentence, summary_sentence
from skilleval.report.document import Report
from skilleval.report.text import one_line

if TYPE_CHECKING:
    import polars as pl

_QUALITY = ("completion_rate", "partial_score", "error_rate")
_OF_SIDE = (
    *("condition_id", "model", "adapter", "sandbox"),
    *("skill_version", "skill_digest", "benchmark_version"),
)
_DECIDED = ("regressed", "improved")
_BETTER = {"consistency": "higher", "p50_ms": "lower", "p95_ms": "lower", "composite": "higher"}
_SAME = 1e-9
_DIGEST_LENGTH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffFrames:
    """The frames of analytics: `condition_pairs`, `task_pairs`, `effects` and `flips`.

    `before` and `after` give a row a pair of metrics that no task has of its own.
    """

    pairs: pl.DataFrame
    tasks: pl.DataFrame
    effects: pl.DataFrame
    flips: pl.DataFrame
    before: pl.DataFrame
    after: pl.DataFrame


def build_diff(  # noqa: PLR0913 - keywords: each is a fact of its own
    reports: tuple[Report, Report],
    frames: DiffFrames,
    *,
    labels: tuple[str, str],
    margin: float,
    level: float,
    warnings: Sequence[str],
) -> Diff:
    """Write down what the frames say; the first report is that of the baseline."""
    pairs = frames.pairs.to_dicts()
    rows = tuple(_row(pair, _name(pair, pairs), frames) for pair in pairs)
    changes = [row.change for row in rows if row.side == "both"]
    baseline, candidate = (_run(report, label) for report, label in zip(reports, labels, strict=True))
    return Diff(
        baseline=baseline,
        candidate=candidate,
        change=next((change for change in _precedence() if change in changes), NOT_COMPARED),
        sentence=summary_sentence(rows),
        margin=margin,
        level=level,
        rows=rows,
        warnings=tuple(warnings),
    )


def _precedence() -> list[str]:
    """Order the verdicts by what a reader must hear first."""
    first = ("regressed", NOT_COMPARED, "inconclusive")
    return [*first, *(change for change in SHAPES if change not in first)]


def _run(report: Report, label: str) -> DiffRun:
    run = report.run
    return DiffRun(
        label=one_line(label),
        run_id=run.run_id,
        started_at=run.started_at,
        benchmark=f"{run.benchmark_id}@{run.benchmark_version}"
        if run.benchmark_version
        else run.benchmark_id,
    )


def _row(pair: Values, name: str, frames: DiffFrames) -> DiffRow:
    metrics, flips = (_of(frame, pair["pair"]) for frame in (frames.effects, frames.flips))
    tasks = _of(frames.tasks, pair["pair"])
    left_out = _left_out(tasks)
    lead = _lead(metrics)
    change = lead["change"] if lead else NOT_COMPARED
    is_both = pair["side"] == "both"
    return DiffRow(
        **{key: pair[key] or "" for key in ("skill_id", "scorer", "mode", "benchmark_id")},
        side=pair["side"],
        name=name,
        baseline={key: pair[f"{key}_before"] for key in _OF_SIDE},
        candidate={key: pair[f"{key}_after"] for key in _OF_SIDE},
        change=change if is_both else pair["side"],
        is_confirmed=any(metric["is_confirmed"] for metric in metrics if metric["metric"] in _QUALITY),
        sentence=row_sentence(lead, flips)
        if is_both
        else f"{pair['side']}: the other run has nothing like it",
        caveats=tuple(row_caveats(metrics, left_out, _judged_otherwise(tasks))),
        metrics=metrics,
        beside=_beside(frames, pair["pair"]) if is_both else (),
        flips=flips,
        tasks=tuple(task["task_id"] for task in tasks if not task["left_out"]) if is_both else (),
        left_out=left_out,
    )


def _of(frame: pl.DataFrame, pair: int) -> tuple[Values, ...]:
    return tuple(frame.filter(frame["pair"] == pair).drop("pair").to_dicts())


def _lead(metrics: Sequence[Values]) -> Values | None:
    """Choose the metric that decides: completion, unless it is open and another one is not; regressions first."""
    quality = [metric for metric in metrics if metric["metric"] in _QUALITY]
    if not quality:
        return None
    decided = [metric for change in _DECIDED for metric in quality if metric["change"] == change]
    first = quality[0]
    return first if first["change"] in _DECIDED or not decided else decided[0]


def _left_out(tasks: Sequence[Values]) -> dict[str, tuple[str, ...]]:
    reasons = sorted({task["left_out"] for task in tasks if task["left_out"]})
    return {
        reason: tuple(task["task_id"] for task in tasks if task["left_out"] == reason) for reason in reasons
    }


def _judged_otherwise(tasks: Sequence[Values]) -> list[str]:
    """Name the compared tasks that expect something else than before."""
    return [
        task["task_id"]
        for task in tasks
        if not task["left_out"]
        and None not in (task["expected_before"], task["expected_after"])
        and task["expected_before"] != task["expected_after"]
    ]


def _beside(frames: DiffFrames, pair: int) -> tuple[Values, ...]:
    before, after = (next(iter(_of(frame, pair)), {}) for frame in (frames.before, frames.after))
    return tuple(_plain(name, before.get(name), after.get(name)) for name in _BETTER)


def _plain(name: str, before: float | None, after: float | None) -> Mapping[str, Any]:
    delta = None if before is None or after is None else after - before
    if delta is not None and abs(delta) <= _SAME:  # sums of floats depend on their order
        delta = 0.0
    outcome = None
    if delta is not None:
        is_better = (delta > 0) == (_BETTER[name] == "higher")
        outcome = "same" if delta == 0 else "better" if is_better else "worse"
    return {
        "metric": name,
        "before": before,
        "after": after,
        "delta": delta,
        "better": _BETTER[name],
        "outcome": outcome,
    }


def _name(pair: Values, pairs: Sequence[Values]) -> str:
    """Name a pair by its skill, then by whatever else is needed to tell it from the others."""
    keys = [key for key in ("mode", "scorer", "benchmark_id") if len({other[key] for other in pairs}) > 1]
    sided = [key for key in ("model", "adapter", "sandbox") if _tells(pair, pairs, key)]
    parts = [_sides(pair, "skill_version"), *(str(pair[key] or "") for key in keys)]
    parts += [_sides(pair, key) for key in sided]
    told = (pair["skill_id"], pair["skill_version_before"], pair["skill_version_after"])
    twins = [
        other
        for other in pairs
        if (other["skill_id"], other["skill_version_before"], other["skill_version_after"]) == told
        and all(other[key] == pair[key] for key in ("mode", "scorer", "benchmark_id"))
    ]
    if len(twins) > 1:
        parts.append(f"content {_sides(pair, 'skill_digest', _DIGEST_LENGTH)}")
    return one_line(f"{pair['skill_id']} {' · '.join(part for part in parts if part)}".strip())


def _tells(pair: Values, pairs: Sequence[Values], key: str) -> bool:
    """Say whether a key differs between both sides, or between rows of the same skill."""
    same_skill = [
        other for other in pairs if other["skill_id"] == pair["skill_id"] and other["side"] == "both"
    ]
    return len({other[f"{key}_{side}"] for other in (pair, *same_skill) for side in _sides_of(other)}) > 1


def _sides_of(pair: Values) -> tuple[str, ...]:
    return {"both": ("before", "after"), "new": ("after",), "removed": ("before",)}[pair["side"]]


def _sides(pair: Values, key: str, length: int | None = None) -> str:
    values = [(pair[f"{key}_{side}"] or "")[:length] for side in ("before", "after")]
    return " → ".join(dict.fromkeys(value for value in values if value))
