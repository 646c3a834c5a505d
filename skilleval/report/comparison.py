"""Two reports side by side: plain differences, and what a reader must know before trusting them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from skilleval.report.caveats import caveats
from skilleval.report.document import Report
from skilleval.report.facts import concurrency
from skilleval.report.markdown_text import escape
from skilleval.report.numbers import DASH, MINUS, Style, counted, interval, shown
from skilleval.report.task_changes import change_lines
from skilleval.report.text import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

_MAX_TASKS = 20
_DIGEST_LENGTH = 8
_SHOWN = (
    ("completion_rate", "completion", Style.RATE),
    ("partial_score", "partial score", Style.RATE),
    ("error_rate", "error rate", Style.RATE),
    ("consistency", "consistency", Style.RATE),
    ("p95_ms", "p95", Style.DURATION),
    ("composite", "composite", Style.RATE),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The rows of `analytics.regression.deltas`, with the tasks that changed where `task_changes` added them.

    `before` and `after` name both sides; `warnings` limit what the rows mean.
    """

    before: str
    after: str
    rows: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Give plain JSON values."""
        return asdict(self)


def warnings(before: Report, after: Report) -> tuple[str, ...]:
    """Say what makes a difference between two runs something else than a change of the skills."""
    return tuple(_warnings(before, after))


def _warnings(before: Report, after: Report) -> Iterator[str]:
    if before.run.run_id == after.run.run_id:
        yield "both sides are the same run"
    if before.run.benchmark_version != after.run.benchmark_version:
        versions = f"{before.run.benchmark_version} and {after.run.benchmark_version}"
        yield f"the versions of the benchmark differ ({versions}): its tasks may"
    for told, values in _differences(before, after):
        yield f"the runs had different {told} ({' and '.join(values)}): their latencies cannot be compared"
    yield from caveats(before, after)
    yield from _shared(before, after)
    if before.run.interrupted or after.run.interrupted:
        yield "a run was interrupted: its tasks may be fewer"
    yield "differences are plain: whether they could be chance is not tested here"


def _differences(before: Report, after: Report) -> Iterator[tuple[str, list[str]]]:
    """Give what latencies depend on and the two runs did not share."""
    names = {"isolation": "isolation", "latency": "ways to measure latency"}
    pairs: dict[str, list[Any]] = {"concurrency": [concurrency(one) for one in (before, after)]}
    pairs |= {told: [_setting(one, "runner", key) for one in (before, after)] for key, told in names.items()}
    pairs["sandboxes"] = [one.provenance.sandbox for one in (before, after)]
    for told, values in pairs.items():
        known = [str(value) for value in values if value not in ({}, "", None)]
        if len(set(known)) > 1:
            yield told, known


def _shared(before: Report, after: Report) -> Iterator[str]:
    """Warn of attempts that stand in both runs; of two runs that share a source not all of it need be the same."""
    if before.run.run_id == after.run.run_id:
        return
    ours, theirs = _sources(before), _sources(after)
    most = sum(min(ours[run_id], theirs[run_id]) for run_id in ours.keys() & theirs.keys())
    if most:
        said = f"the runs share attempts (up to {counted(most, 'trial')})"
        yield f"{said}: what they share cannot differ but by its scoring, so nothing is learnt from it about a change"


def _sources(report: Report) -> dict[str, int]:
    """Count the attempts of a run by the run that made them, itself included."""
    reused = {run_id: int(n) for run_id, n in report.provenance.reused.items()}
    own = (report.run.n_trials or 0) - sum(reused.values())
    return {report.run.run_id: own, **reused}


def _setting(report: Report, *path: str) -> Any:
    value: Any = report.provenance.config
    for key in path:
        value = value.get(key, {}) if isinstance(value, Mapping) else {}
    return value


def markdown(comparison: Comparison) -> str:
    """Write the comparison as Markdown."""
    lines = [f"# {escape(comparison.before)} → {escape(comparison.after)}", ""]
    for row in comparison.rows:
        lines += [f"## {escape(_name(row, comparison.rows))}", "", *_table(row), ""]
    lines += [f"- {escape(warning)}" for warning in comparison.warnings]
    return "\n".join(lines) + "\n"


def _table(row: Mapping[str, Any]) -> list[str]:
    if row["side"] != "both":
        return [f"{row['side']}: the other side has no such row"]
    body = [f"| {label} | {' | '.join(cells)} |" for label, cells in _lines(row)]
    tasks = [f"- {line}" for line in change_lines(row, _MAX_TASKS, spell=escape)]
    return [
        "| metric | before | after | difference |",
        "|---|--:|--:|--:|",
        *body,
        *([""] if tasks else []),
        *tasks,
    ]


def _lines(row: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[str]]]:
    for key, label, style in _SHOWN:
        yield (
            label,
            [_value(row, key, side, style) for side in ("before", "after")] + [_change(row, key, style)],
        )


def _value(row: Mapping[str, Any], key: str, side: str, style: Style) -> str:
    text = shown(row[f"{key}_{side}"], style)
    if key != "completion_rate":
        return text
    return f"{text} {interval(row[f'ci_low_{side}'], row[f'ci_high_{side}'])}"


def _change(row: Mapping[str, Any], key: str, style: Style) -> str:
    delta = row[f"{key}_delta"]
    if delta is None:
        return DASH
    text = shown(abs(delta), style)
    if delta == 0:
        return text
    return f"+{text}" if delta > 0 else f"{MINUS}{text}"


def _name(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Name a row by its versions; where another row has the same name, by its contents too."""
    name = _by_version(row)
    alone = sum(_by_version(other) == name for other in rows) == 1
    contents = [(row[f"skill_digest_{side}"] or "")[:_DIGEST_LENGTH] for side in ("before", "after")]
    told = "" if alone else f" · content {' → '.join(dict.fromkeys(one for one in contents if one))}"
    return one_line(f"{name}{told}")


def _by_version(row: Mapping[str, Any]) -> str:
    versions = [row[f"skill_version_{side}"] for side in ("before", "after")]
    known = list(dict.fromkeys(version for version in versions if version))
    return f"{row['skill_id']} {' → '.join(known)} · {row['scorer']} · {row['benchmark_id']}"


def table(comparison: Comparison) -> RenderableType:
    """Give the comparison as something rich can print; every text is plain."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    for row in comparison.rows:
        parts.append(Text(_name(row, comparison.rows), style="bold"))
        if row["side"] != "both":
            parts.append(Text(f"  {row['side']}"))
            continue
        grid = Table("metric", box=None, pad_edge=False)
        for heading in (comparison.before, comparison.after, "difference"):
            grid.add_column(Text(one_line(heading)), justify="right")
        for label, cells in _lines(row):
            grid.add_row(label, *(Text(cell) for cell in cells))
        parts.append(grid)
        parts += [Text(f"  {line}") for line in change_lines(row, _MAX_TASKS)]
    return Group(*parts, *(Text(f"▲ {warning}", style="yellow") for warning in comparison.warnings))
