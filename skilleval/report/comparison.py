"""Two runs side by side: what a reader must know before trusting a difference, and how a terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skilleval.report.caveats import caveats
from skilleval.report.diff_document import Diff, DiffRow
from skilleval.report.diff_phrases import SHAPES
from skilleval.report.diff_tables import left_over, statistics_lines, tables
from skilleval.report.document import Report
from skilleval.report.facts import concurrency
from skilleval.report.numbers import counted
from skilleval.report.text import one_line
from skilleval.report.text_table import TextTable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

_MAX_LINES = 20
_STYLES = {"regressed": "bold red", "improved": "bold green", "inconclusive": "bold yellow"}


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
    yield from _guarantees(before, after)
    yield from caveats(before, after)
    yield from _shared(before, after)
    if before.run.interrupted or after.run.interrupted:
        yield "a run was interrupted: its tasks may be fewer"


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


def _guarantees(before: Report, after: Report) -> Iterator[str]:
    """Warn of sandboxes of one name that enforced different things, e.g. on another machine."""
    one, other = (report.provenance for report in (before, after))
    if one.sandbox == other.sandbox and set(one.guarantees) != set(other.guarantees):
        apart = sorted(set(one.guarantees) ^ set(other.guarantees))
        yield f"the sandbox {one.sandbox} did not enforce the same on both sides ({', '.join(apart)})"


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


def headline(diff: Diff) -> str:
    """Give the title of a comparison."""
    return f"{diff.baseline.label} → {diff.candidate.label}"


def verdict_line(change: str, sentence: str) -> str:
    """Mark a verdict, so that it is seen without colour."""
    return f"{SHAPES.get(change, '•')} {sentence}"


def table(diff: Diff) -> RenderableType:
    """Give the comparison as something rich can print; every text is plain."""
    from rich.console import Group
    from rich.text import Text

    style = _STYLES.get(diff.change, "bold")
    parts: list[RenderableType] = [Text(one_line(headline(diff)), style="dim")]
    parts.append(Text(one_line(verdict_line(diff.change, diff.sentence)), style=style))
    for row in diff.rows:
        if row.side == "both":
            parts += [Text(""), Text(row.name, style="bold"), *_terminal_rows(diff, row)]
    parts += [Text(one_line(line)) for line in left_over(diff.rows)]
    return Group(*parts, *(Text(f"▲ {one_line(warning)}", style="yellow") for warning in diff.warnings))


def _terminal_rows(diff: Diff, row: DiffRow) -> Iterator[Text]:
    from rich.text import Text

    yield Text(one_line(verdict_line(row.change, row.sentence)), style=_STYLES.get(row.change, ""))
    yield from (Text(f"  ▲ {one_line(caveat)}", style="yellow") for caveat in row.caveats)
    if row.is_same:
        return
    for one in tables(diff, row):
        yield Text(f"  {one.title}", style="dim")
        yield from (Text(f"    {line}", no_wrap=True, overflow="ignore") for line in _drawn(one))
        if len(one.rows) > _MAX_LINES:
            yield Text(f"    {counted(len(one.rows) - _MAX_LINES, 'more row')}: --json has them all")
    yield from (Text(f"  {one_line(line)}", style="dim") for line in statistics_lines(row))


def _drawn(one: TextTable) -> list[str]:
    """Lay out a table in columns; the last one ends where it ends."""
    from rich.cells import cell_len

    rows = [[one_line(cell) for cell in row] for row in (one.header, *one.rows[:_MAX_LINES])]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        blanks = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = zip(row, blanks, one.numeric, strict=True)
        lines.append(
            "  ".join(f"{blank}{cell}" if right else f"{cell}{blank}" for cell, blank, right in cells)
        )
    return [line.rstrip() for line in lines]
