"""Two reports side by side: plain differences, and what a reader must know before trusting them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from skilleval.report.document import Report
from skilleval.report.markdown_text import escape
from skilleval.report.numbers import DASH, MINUS, Style, interval, shown
from skilleval.report.text import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

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
    """The rows of `analytics.regression.deltas` with the names of both sides; `warnings` limit what they mean."""

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
    one, other = (_setting(report, "runner", "concurrency") for report in (before, after))
    if one != other:
        yield f"the runs had different concurrency ({one} and {other}): their latencies cannot be compared"
    if before.run.interrupted or after.run.interrupted:
        yield "a run was interrupted: its tasks may be fewer"
    yield "differences are plain: whether they could be chance is not tested here"


def _setting(report: Report, *path: str) -> Any:
    value: Any = report.provenance.config
    for key in path:
        value = value.get(key, {}) if isinstance(value, Mapping) else {}
    return value


def markdown(comparison: Comparison) -> str:
    """Write the comparison as Markdown."""
    lines = [f"# {escape(comparison.before)} → {escape(comparison.after)}", ""]
    for row in comparison.rows:
        lines += [f"## {escape(_name(row))}", "", *_table(row), ""]
    lines += [f"- {escape(warning)}" for warning in comparison.warnings]
    return "\n".join(lines) + "\n"


def _table(row: Mapping[str, Any]) -> list[str]:
    if row["side"] != "both":
        return [f"{row['side']}: the other side has no such row"]
    body = [f"| {label} | {' | '.join(cells)} |" for label, cells in _lines(row)]
    return ["| metric | before | after | difference |", "|---|--:|--:|--:|", *body]


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


def _name(row: Mapping[str, Any]) -> str:
    versions = [row[f"skill_version_{side}"] for side in ("before", "after")]
    known = list(dict.fromkeys(version for version in versions if version))
    return one_line(f"{row['skill_id']} {' → '.join(known)} · {row['scorer']} · {row['benchmark_id']}")


def table(comparison: Comparison) -> RenderableType:
    """Give the comparison as something rich can print; every text is plain."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    for row in comparison.rows:
        parts.append(Text(_name(row), style="bold"))
        if row["side"] != "both":
            parts.append(Text(f"  {row['side']}"))
            continue
        grid = Table("metric", box=None, pad_edge=False)
        for heading in (comparison.before, comparison.after, "difference"):
            grid.add_column(Text(one_line(heading)), justify="right")
        for label, cells in _lines(row):
            grid.add_row(label, *(Text(cell) for cell in cells))
        parts.append(grid)
    return Group(*parts, *(Text(f"▲ {warning}", style="yellow") for warning in comparison.warnings))
