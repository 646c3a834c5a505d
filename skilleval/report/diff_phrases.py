"""A comparison in words: a sentence a row, one for all, and what limits them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from skilleval.report.diff_document import BROKEN, NOT_COMPARED, DiffRow, Values
from skilleval.report.numbers import Style, counted, p_text, points, rate, shown, signed, times

LABELS = {
    "completion_rate": "completion",
    "partial_score": "partial score",
    "error_rate": "errors",
    "latency_ms": "latency",
    "tokens": "tokens",
    "cost_usd": "cost",
    "consistency": "consistency",
    "p50_ms": "p50",
    "p95_ms": "p95",
    "composite": "composite",
}
SHAPES = {
    "regressed": "✕",
    "improved": "✓",
    "equivalent": "≈",
    "unchanged": "=",
    "inconclusive": "○",
    NOT_COMPARED: "○",
}
"""The verdicts of analytics in the order in which they count, each with the mark that says it without colour."""

_NAMED = 3
_SECONDS = ("latency_ms", "p50_ms", "p95_ms")


def effect_text(metric: Values) -> str:
    """Write an effect: `−8.3 pp`, `×1.31`."""
    return times(metric["effect"]) if metric["kind"] == "ratio" else f"{points(metric['effect'])} pp"


def effect_interval(metric: Values) -> str:
    """Write the interval of an effect, empty where there is none."""
    ends = (metric["low"], metric["high"])
    if None in ends:
        return ""
    written = [times(end).removeprefix("×") if metric["kind"] == "ratio" else points(end) for end in ends]
    return f"[{', '.join(written)}]"


def value_text(name: str, value: float | None) -> str:
    """Write the value of a metric in its unit."""
    styles = dict.fromkeys(_SECONDS, Style.DURATION) | {"tokens": Style.COUNT, "cost_usd": Style.MONEY}
    return shown(value, styles.get(name, Style.RATE))


def change_text(beside: Values) -> str:
    """Write a plain difference with its sign."""
    if beside["metric"] in _SECONDS:
        return signed(beside["delta"], Style.DURATION)
    return signed(beside["delta"], Style.RATE)


def row_sentence(lead: Values | None, flips: Sequence[Values]) -> str:
    """Say what the metric that decides shows, then what broke."""
    said = [_verdict(lead), *_broken(flips)]
    return "; ".join(said)


def _verdict(lead: Values | None) -> str:
    if lead is None:
        return f"{NOT_COMPARED}: no task has a verdict on both sides"
    named = "" if lead["metric"] == "completion_rate" else f" in {LABELS[lead['metric']]}"
    change, n = lead["change"], lead["n_tasks"]
    if change == "unchanged":
        what = "its only task" if n == 1 else f"all {counted(n, 'task')}"
        few = f"{counted(lead['n_more'], 'more task')} would rule out a change of {_margin(lead)}"
        return f"{change}{named}: {what} ended as before ({few})"
    figure = " ".join(part for part in (effect_text(lead), effect_interval(lead)) if part)
    if change == "equivalent":
        return f"{change}{named}: {figure}, within ±{_margin(lead)}, {counted(n, 'task')}"
    moved = f"on {lead['n_better'] + lead['n_worse']} of {counted(n, 'task')}"
    told = ", ".join(part for part in (f"{figure} {moved}", _p(lead)) if part)
    if change == "inconclusive":
        return f"{change}{named}: about {counted(lead['n_more'], 'more task')} would decide; {told}"
    beyond = "" if lead["is_confirmed"] or change != "regressed" else _within(lead)
    return f"{change}{named}: {told}{beyond}"


def _within(lead: Values) -> str:
    return f", not shown to exceed the margin of {_margin(lead)}"


def _margin(lead: Values) -> str:
    return f"{points(lead['margin']).removeprefix('+')} pp"


def _p(lead: Values) -> str:
    raw, adjusted = p_text(lead["p_value"]), p_text(lead["p_holm"])
    return raw if raw == adjusted else f"{raw} ({adjusted.removeprefix('p ').removeprefix('= ')} by Holm)"


def _broken(flips: Sequence[Values]) -> Iterator[str]:
    broken = [flip for flip in flips if flip["flip"] == BROKEN]
    tasks = [flip["task_id"] for flip in broken if flip["check_id"] is None]
    checks = [
        check_name(flip) for flip in broken if flip["check_id"] is not None and flip["task_id"] not in tasks
    ]
    for what, names in (("task", tasks), ("check", checks)):
        if names:
            more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
            yield f"{what}{'' if len(names) == 1 else 's'} broken: {', '.join([*names[:_NAMED], *more])}"


def check_name(flip: Values) -> str:
    """Name a check by its task and what it looks at."""
    return f"{flip['task_id']} / {flip['check'] or flip['check_id']}"


def summary_sentence(rows: Sequence[DiffRow]) -> str:
    """Say the verdict of all comparisons; that of a single one is its own."""
    compared = [row for row in rows if row.side == "both"]
    if len(compared) == 1:
        return compared[0].sentence
    parts = []
    for change in SHAPES:
        found = [row for row in compared if row.change == change]
        if found:
            parts.append(f"{change}: {len(found)} of {len(compared)}{_named(change, found)}")
    return "; ".join(parts)


def _named(change: str, rows: Sequence[DiffRow]) -> str:
    if change not in {"regressed", "improved"} or len(rows) > _NAMED:
        return ""
    told = [f"{row.name}: {row.sentence.partition(': ')[2]}" for row in rows]
    return f" ({'; '.join(told)})"


def row_caveats(
    metrics: Sequence[Values], left_out: Mapping[str, Sequence[str]], judged_otherwise: Sequence[str]
) -> Iterator[str]:
    """Say what limits the figures of a row; `judged_otherwise` names tasks that expect something else now."""
    for metric in metrics:
        if metric["is_unequal"]:
            rates = " and ".join(rate(metric[f"flip_rate_{side}"]) for side in ("before", "after"))
            yield (
                f"repeats of a task disagree on one side more than on the other (flip rate {rates}): "
                "a small p may then come by chance"
            )
    changed = left_out.get("changed", ())
    if changed:
        yield f"another input, so not compared: {_some_tasks(changed)}"
    if judged_otherwise:
        yield f"something else is expected on one side than on the other: {_some_tasks(judged_otherwise)}"


def _some_tasks(tasks: Sequence[str]) -> str:
    more = [f"{len(tasks) - _NAMED} more"] if len(tasks) > _NAMED else []
    return f"{counted(len(tasks), 'task')} ({', '.join([*tasks[:_NAMED], *more])})"
