r"""The numbers that a text quotes, each as a macro (`\evalCalculatorCompletion`) with the row it comes from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skilleval.report.arms import Uplift
from skilleval.report.columns import number, row_names, words
from skilleval.report.document import Row
from skilleval.report.latex_text import comment, escape
from skilleval.report.numbers import DASH, Style, count, p_text, rate, shown, signed
from skilleval.report.paper.document import Compared, Group, Paper, Quoted
from skilleval.report.paper.names import PREFIX, distinct, letters, unique

_METRICS = {
    "completion_rate": "Completion",
    "completion_rate_macro": "CompletionOfTasks",
    "partial_score": "Partial",
    "error_rate": "Errors",
    "consistency": "Consistency",
    "p50_ms": "MedianLatency",
    "p95_ms": "LatencyNinetyFive",
    "spawn_p50_ms": "MedianSpawn",
    "total_tokens": "Tokens",
    "cost_usd": "Cost",
    "reused_cost_usd": "ReusedCost",
    "n_judge_errors": "JudgeErrors",
    "composite": "Composite",
}
_COUNTS = {
    "n_tasks": "Tasks",
    "n_repeats": "Repeats",
    "n_trials": "Trials",
    "n_graded": "Graded",
    "n_passed": "Passed",
}
_UPLIFTS = {
    "uplift": ("Uplift", Style.RATE),
    "uplift_low": ("UpliftLow", Style.RATE),
    "uplift_high": ("UpliftHigh", Style.RATE),
    "gain": ("Gain", Style.RATE),
    "tokens_difference": ("MoreTokens", Style.COUNT),
}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where numbers come from: how their macros begin, and what they are a row of."""

    stem: str
    table: str
    row: str
    run_ids: tuple[str, ...]

    def quoted(self, name: str, text: str, value: float | None, unit: str, column: str) -> Quoted:
        return Quoted(
            macro=f"{PREFIX}{self.stem}{name}",
            text=text,
            value=value,
            unit=unit,
            table=self.table,
            row=self.row,
            column=column,
            run_ids=self.run_ids,
        )


def quoted(paper: Paper) -> tuple[Quoted, ...]:
    """Give every number that the tables hold; macros of several benchmarks begin with the name of theirs."""
    stems = [""]
    if len(paper.groups) > 1:
        stems = distinct([group.name for group in paper.groups], otherwise="Benchmark")
    found = [one for stem, group in zip(stems, paper.groups, strict=True) for one in _of_group(group, stem)]
    return _apart(found)


def _apart(found: Sequence[Quoted]) -> tuple[Quoted, ...]:
    """Count macros that came out alike, as of a skill that is called like another one's number."""
    names = unique([one.macro for one in found])
    return tuple(dataclasses.replace(one, macro=name) for one, name in zip(found, names, strict=True))


def _of_group(group: Group, stem: str) -> Iterator[Quoted]:
    run_ids = tuple(source.run_id for source in group.sources)
    rows = group.report.summary
    whole = _Place(stem, "manifest", group.benchmark, run_ids)
    yield from _of_whole(group, whole)
    labels = row_names(rows)
    names = distinct(labels, otherwise="Row")
    compared = {(one.condition_id, one.scorer): one for one in group.compared}
    for label, name, row in zip(labels, names, rows, strict=True):
        place = _Place(f"{stem}{name}", "summary", label, run_ids)
        yield from _of_row(group, row, place)
        other = compared.get((words(row, "condition_id"), words(row, "scorer")))
        if other is not None:
            yield from _of_comparison(other, dataclasses.replace(place, table="comparisons"))
    uplifts = group.report.uplift
    names = distinct([f"{one.name} over {one.baseline}" for one in uplifts], otherwise="Row")
    for one, name in zip(uplifts, names, strict=True):
        yield from _of_uplift(one, _Place(f"{stem}{name}", "uplift", one.name, run_ids))
    yield from _of_agreement(group, stem, run_ids)


def _of_whole(group: Group, place: _Place) -> Iterator[Quoted]:
    facts = group.report.run
    known = {"Tasks": facts.n_tasks, "Repeats": facts.n_repeats, "Trials": facts.n_trials}
    for name, value in known.items():
        yield place.quoted(f"All{name}", count(value), value, name.lower(), f"n_{name.lower()}")
    n_runs = len(group.sources)
    yield place.quoted("AllRuns", count(n_runs), n_runs, "runs", "run_id")
    yield place.quoted("Level", rate(group.formulas.level), group.formulas.level, "share", "level")


def _of_row(group: Group, row: Row, place: _Place) -> Iterator[Quoted]:
    for key, name in _COUNTS.items():
        value = number(row, key)
        yield place.quoted(name, count(value), value, key.removeprefix("n_"), key)
    for column in group.report.columns:
        name = _METRICS.get(column.key, letters(column.key))
        ends: tuple[tuple[str, str | None], ...] = (
            ("", column.key),
            ("Low", column.low),
            ("High", column.high),
        )
        for end, source in ends:
            value = None if source is None else number(row, source)
            if source is not None and (value is not None or not end):
                yield place.quoted(f"{name}{end}", shown(value, column.style), value, column.unit, source)


def _of_comparison(one: Compared, place: _Place) -> Iterator[Quoted]:
    for name, key in (("Difference", "effect"), ("DifferenceLow", "low"), ("DifferenceHigh", "high")):
        value = getattr(one, key)
        if value is not None:
            yield place.quoted(name, signed(value, Style.RATE), value, "share", key)
    for name, key in (("P", "p_value"), ("PHolm", "p_holm")):
        value = getattr(one, key)
        yield place.quoted(name, p_text(value) or DASH, value, "probability", key)
    yield place.quoted("ComparedTasks", count(one.n_tasks), one.n_tasks, "tasks", "n_tasks")


def _of_uplift(one: Uplift, place: _Place) -> Iterator[Quoted]:
    for key, (name, style) in _UPLIFTS.items():
        value = getattr(one, key)
        if value is not None:
            unit = "share" if style is Style.RATE else "tokens"
            yield place.quoted(name, signed(value, style), value, unit, key)
    yield place.quoted("UpliftP", p_text(one.p_value) or DASH, one.p_value, "probability", "p_value")
    yield place.quoted("UpliftCases", count(one.n_cases), one.n_cases, "cases", "n_cases")


def _of_agreement(group: Group, stem: str, run_ids: tuple[str, ...]) -> Iterator[Quoted]:
    agreement = group.report.agreement
    pairs = () if agreement is None else agreement.pairs
    labels = [f"{pair.rater_a} with {pair.rater_b}" for pair in pairs]
    for pair, label, name in zip(pairs, labels, distinct(labels, otherwise="Scorers"), strict=True):
        place = _Place(f"{stem}{name}", "agreement", label, run_ids)
        for what, key in (("Agreement", "percent_agreement"), ("Kappa", "kappa")):
            value = getattr(pair, key)
            yield place.quoted(what, rate(value), value, "share", key)
        yield place.quoted("BothJudged", count(pair.n_both), pair.n_both, "trials", "n_both")


def numbers_tex(found: Sequence[Quoted]) -> str:
    r"""Write the macros, each with a comment that names its row and column."""
    lines = [
        r"% Numbers for the text: \input this file before \begin{document} and write e.g. "
        rf"\{found[0].macro}{{}}."
        if found
        else "% No number.",
        "% Each line: the macro, then % table / row / column (unit), as paper.json has them.",
    ]
    for one in found:
        source = comment(f"{one.table} / {one.row} / {one.column} ({one.unit})")
        lines.append(rf"\newcommand{{\{one.macro}}}{{{escape(one.text)}}} % {source}")
    return "\n".join(lines) + "\n"
