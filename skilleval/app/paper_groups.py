"""Stored runs put together for a paper: all on one state of a benchmark are summarised as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from skilleval.analytics.against_one import completion_effects, in_place_of
from skilleval.analytics.distributions import distributions, fronts
from skilleval.analytics.failures import failed_trials, task_matrix
from skilleval.analytics.interval_columns import with_intervals
from skilleval.analytics.regression import condition_pairs
from skilleval.analytics.slices import by_tag
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.summary import summary
from skilleval.analytics.task_results import task_results
from skilleval.app.agreement import scorer_agreement
from skilleval.app.analyse import arm_frames
from skilleval.app.compare import MARGIN
from skilleval.app.stored import Stored, alike, readable
from skilleval.errors import Problem, UsageError
from skilleval.report.build import build_report
from skilleval.report.columns import interval_metrics, row_names, words
from skilleval.report.distributions_part import distributions_part, fronts_part
from skilleval.report.document import Report, Row
from skilleval.report.paper.document import Compared, Formulas, Group, Source
from skilleval.results.schema import JUDGEMENTS
from skilleval.results.store import scan_table
from skilleval.strict import nearest

_STATE = 8  # digits of a digest that tell states of one version apart


def groups(
    found: Sequence[tuple[Stored, Source]], *, scorer: str, baseline: str, baseline_run: str
) -> tuple[Group, ...]:
    """Group runs by their benchmark, and hold conditions against the baseline: a run, a skill, else the best of each.

    Raises:
        UsageError: runs on one benchmark follow different formulas, or nobody here is the skill or the scorer.
        ResultsError: a table cannot be read.
    """
    apart = [pair for pair in found if pair[1].run_id != baseline_run]
    against = [pair for pair in found if pair[1].run_id == baseline_run]
    states: dict[tuple[str, ...], list[tuple[Stored, Source]]] = {}
    for pair in apart or against:
        states.setdefault(_state(pair[0].manifest), []).append(pair)
    names = _names(list(states))
    made = [
        _group(states[state], name, scorer=scorer, baseline=baseline, against=against if apart else [])
        for state, name in names.items()
    ]
    if against and apart:
        name = f"baseline on {_state(against[0][0].manifest)[0]}"
        made.append(_group(against, name, scorer=scorer, baseline="", against=[]))
    _check_baseline(baseline, baseline_run, made)
    return tuple(made)


def _state(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    about = manifest["benchmark"]
    return str(about["id"]), str(about["version"]), str(about["digest"])


def _names(states: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Name states of benchmarks: by version or digest only where the id does not tell them apart."""
    ids, versions = [state[0] for state in states], [state[:2] for state in states]
    names = {}
    for state in states:
        name = state[0] if ids.count(state[0]) == 1 else "@".join(state[:2])
        names[state] = name if versions.count(state[:2]) == 1 else f"{name} ({state[2][:_STATE]})"
    return names


def _group(
    found: Sequence[tuple[Stored, Source]],
    name: str,
    *,
    scorer: str,
    baseline: str,
    against: Sequence[tuple[Stored, Source]],
) -> Group:
    first = found[0][0]
    alike([one for one, _ in found])
    with readable(first.folder):
        rows = _rows([one for one, _ in found], scorer)
        report = _report([one for one, _ in found], rows, scorer)
        made = Group(
            benchmark="@".join(_state(first.manifest)[:2]),
            name=name,
            report=report,
            sources=tuple(source for _, source in found),
            formulas=_formulas(first.spec),
        )
        if against:
            return _against_run(made, rows, first.spec, against, scorer)
        return _against_one(made, rows, first.spec, baseline)


def _rows(runs: Sequence[Stored], scorer: str) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    trials = pl.concat([one.trials for one in runs])
    scores = pl.concat([one.scores for one in runs])
    if not scorer:
        return trials, scores
    names = sorted(scores.select(pl.col("scorer").unique()).collect()["scorer"])
    if scorer not in names:
        problem = Problem(
            where="--scorer", expected=f"one of {', '.join(names)}", found=scorer, hint=nearest(scorer, names)
        )
        raise UsageError("no run here was judged by this scorer", problems=(problem,))
    return trials, scores.filter(pl.col("scorer") == scorer)


def _report(runs: Sequence[Stored], rows: tuple[pl.LazyFrame, pl.LazyFrame], scorer: str) -> Report:
    """Build the report of several runs as if they were one: their repeats count together."""
    trials, scores = rows
    spec = runs[0].spec
    shown, matrix, failures, slices, measured = pl.collect_all(
        [
            with_intervals(
                summary(trials, scores, spec=spec), trials, scores, metrics=interval_metrics(), spec=spec
            ),
            task_matrix(trials, scores),
            failed_trials(trials, scores, limit=1),
            by_tag(trials, scores, spec=spec),
            distributions(trials, scores, spec=spec),
        ]
    )
    judgements = pl.concat([scan_table(one.folder, JUDGEMENTS) for one in runs])
    if scorer:
        judgements = judgements.filter(pl.col("scorer") == scorer)
    built = build_report(
        manifest=_manifest(runs),
        summary=shown,
        matrix=matrix,
        failures=failures,
        gate={},
        slices=slices,
        arms=arm_frames(trials, scores, judgements, spec),
    )
    return replace(
        built,
        agreement=scorer_agreement(trials, scores, shown, spec=spec),
        distributions=distributions_part(measured),
        fronts=fronts_part(fronts(shown, measured)),
    )


def _manifest(runs: Sequence[Stored]) -> dict[str, Any]:
    """Give the manifest of several runs: what they share by the first one, what they add up to by their rows."""
    first = dict(runs[0].manifest)
    if len(runs) == 1:
        return first
    ids = ", ".join(str(one.manifest["run_id"]) for one in runs)
    unknown: dict[str, Any] = dict.fromkeys(("counts", "n_planned", "started_at", "ended_at"))
    cut_short = any(one.manifest.get("interrupted") for one in runs)
    return {**first, **unknown, "run_id": ids, "runner": {}, "interrupted": cut_short}


def _formulas(spec: AnalysisSpec) -> Formulas:
    return Formulas(
        level=spec.level,
        interval=spec.interval.value,
        preset=spec.preset.value,
        seed=spec.seed,
        k=spec.k,
        scoring_method=spec.scoring_method.value,
        resamples=spec.resamples,
        family=spec.family,
    )


def _against_run(
    made: Group,
    rows: tuple[pl.LazyFrame, pl.LazyFrame],
    spec: AnalysisSpec,
    against: Sequence[tuple[Stored, Source]],
    scorer: str,
) -> Group:
    """Compare each condition with its own in the baseline run, as `diff` pairs them."""
    before = task_results(*_rows([one for one, _ in against], scorer), spec=spec).collect().lazy()
    after = task_results(*rows, spec=spec).collect().lazy()
    pairs = condition_pairs(before, after).filter(pl.col("side") == "both").collect().lazy()
    compared = _compared(pairs, before, after, spec)
    run_id = against[0][1].run_id
    return replace(made, compared=compared, against=f"the same in the baseline run {run_id}")


def _against_one(
    made: Group, rows: tuple[pl.LazyFrame, pl.LazyFrame], spec: AnalysisSpec, baseline: str
) -> Group:
    """Compare each condition with one of its scorer: that of the skill, else the one of highest completion."""
    references = _references(made.report, baseline)
    tasks = task_results(*rows, spec=spec).collect().lazy()
    keys = ("condition_id", "scorer", "benchmark_id", "benchmark_version")
    schema = dict.fromkeys(keys, pl.String())
    named = pl.LazyFrame([{key: row.get(key) for key in keys} for row in references], schema=schema)
    pairs, lent = in_place_of(tasks, named)
    compared = _compared(pairs.collect().lazy(), lent.collect().lazy(), tasks, spec)
    what = row_names(made.report.summary)
    said = [what[made.report.summary.index(row)] for row in references]
    return replace(
        made,
        compared=compared,
        references={words(row, "scorer"): words(row, "condition_id") for row in references},
        against=", ".join(said) if baseline else f"the best ({', '.join(said)})",
        is_chosen=not baseline,
    )


def _references(report: Report, baseline: str) -> list[Row]:
    """Choose the condition that others are held against, one a scorer; rows come best first."""
    chosen: dict[str, Row] = {}
    for row in report.summary:
        names = {words(row, "skill_id"), f"{words(row, 'skill_id')}@{words(row, 'skill_version')}"}
        if row.get("completion_rate") is not None and (not baseline or baseline in names):
            chosen.setdefault(words(row, "scorer"), row)
    return list(chosen.values())


def _compared(
    pairs: pl.LazyFrame, before: pl.LazyFrame, after: pl.LazyFrame, spec: AnalysisSpec
) -> tuple[Compared, ...]:
    found = completion_effects(
        pairs, before, after, level=spec.level, margin=MARGIN, seed=spec.seed
    ).collect()
    return tuple(
        Compared(**{**row, "ci_method": row["ci_method"] or "", "p_method": row["p_method"] or ""})
        for row in found.to_dicts()
    )


def _check_baseline(baseline: str, baseline_run: str, made: Sequence[Group]) -> None:
    """Refuse a baseline that is neither a run nor a skill of any."""
    if not baseline or baseline_run or any(group.references for group in made):
        return
    names = sorted({words(row, "skill_id") for group in made for row in group.report.summary})
    expected, hint = f"a run, or one of {', '.join(names)}", nearest(baseline, names)
    problem = Problem(where="--baseline", expected=expected, found=baseline, hint=hint)
    raise UsageError("nothing can be held against this", problems=(problem,))
