"""Scoring stored attempts again: a run of its own, in which no skill is called."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.app.keys import build_redactor
from skilleval.app.labels import with_labels
from skilleval.app.models import build_models
from skilleval.app.notebooks import NotebookOptions, check_notebooks
from skilleval.app.parts import build_sandbox, build_scorers
from skilleval.app.prepare import Prepared, read_benchmark, read_skills, unjudged_tasks, wants_instructions
from skilleval.app.pushing import check_places
from skilleval.app.recordings import Place, StoredPast
from skilleval.app.reuse import n_redacted
from skilleval.config.compose import Composed, StoredConfig, compose_stored, quote
from skilleval.config.settings import Settings
from skilleval.domain.hashes import canonical_json
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Benchmark, Task
from skilleval.domain.trials import Condition, Mode, Trial
from skilleval.errors import Problem, ResultsError, UsageError
from skilleval.registry import part
from skilleval.report import WRITERS
from skilleval.results.find import find_run
from skilleval.results.places import local_place, shown_place
from skilleval.results.schema import TRIALS
from skilleval.results.store import MANIFEST, check_root, compact, is_live, read_manifest, scan_table

_OF_TRIAL = ("trial_id", "condition_id", "repeat", "seed", "timeout_ms")
_OF_CONDITION = ("skill_id", "skill_version", "skill_digest", "adapter", "sandbox", "model", "isolation")
_CHANGEABLE = (
    "scorer",
    "scorers",
    "judge",
    "second_judge",
    "pricing",
    "budget",
    "analysis",
    "gate",
    "report",
    "privacy",
    "paths",
    "sandbox",
    "benchmark",
    "experiment_name",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """A stored run that is ready to be scored again, and where its attempts are read from."""

    source: Path
    prepared: Prepared
    past: StoredPast


def prepare_scoring(
    reference: str,
    overrides: Sequence[str],
    *,
    store: Path,
    project: Path,
    allow_changed_benchmark: bool,
) -> Scoring:
    """Get a stored run (folder, id, `latest`) ready to be scored again by its settings and these overrides.

    The benchmark is read again for what is expected; skills are not needed. New rows go beside the scored run.

    Raises:
        SkillevalError: the run, its benchmark or a setting cannot be used.
    """
    folder = find_run(reference, store)
    manifest = _settled(folder)
    composed = _composed(manifest, folder, overrides, project=project)
    settings = composed.settings
    reading = read_benchmark(settings, _instructed(settings))
    benchmark, rows = reading.benchmark, scan_table(folder, TRIALS)
    left_out = _left_out(manifest, rows, benchmark, folder, is_allowed=allow_changed_benchmark)
    sandbox = build_sandbox(settings.sandbox)
    models = build_models(settings)
    models.check_judges()
    scorers = build_scorers(settings.scorers, sandbox, models.judges)
    skills = tuple(_skill(one) for one in manifest.get("skills", ()))
    trials = tuple(_trials(rows, skills, benchmark, left_out))
    _check_any(trials, folder)
    labelled = with_labels(scorers, trials, benchmark)
    prepared = Prepared(
        composed=composed,
        skills=skills,
        benchmark=benchmark,
        trials=trials,
        adapters={},
        sandbox=sandbox,
        scorers=labelled.scorers,
        models=models,
        redactor=build_redactor(settings, skills),
        warnings=(
            *(f"left out: task {name}: {why}" for name, why in left_out.items()),
            *_shortfall(manifest, rows),
            *unjudged_tasks(benchmark, scorers),
            *labelled.warnings,
        ),
        notices=reading.notices,
    )
    run_id = str(manifest["run_id"])
    places = {one.trial_id: Place(folder=folder, run_id=run_id, trial_id=one.trial_id) for one in trials}
    return Scoring(source=folder, prepared=prepared, past=StoredPast(trials, places))


def _instructed(settings: Settings) -> Sequence[Skill]:
    """Give the instruction skills of a run as they are now: they hold what is expected."""
    return read_skills(settings).skills if wants_instructions(settings) else ()


def _composed(
    manifest: Mapping[str, Any], folder: Path, overrides: Sequence[str], *, project: Path
) -> Composed:
    """Give the settings of the run; its new rows go beside it unless an override says where else."""
    _refuse_without_effect(overrides)
    stored = StoredConfig(
        where=folder / MANIFEST,
        values=manifest["config"],
        overrides=tuple(manifest.get("overrides", ())),
        choices=manifest.get("choices", {}),
    )
    ours = [
        f"paths.output_dir={quote(shown_place(folder.parent))}",
        "paths.store=null",
        # The latencies are those of one run, as it measured them: nothing is mixed that would have to stay apart.
        "analysis.reused_latency=true",
    ]
    composed = compose_stored(stored, [*ours, *overrides], project=project)
    for name in composed.settings.report.formats:
        part(WRITERS, name, key="report.formats", group="writers")
    report = composed.settings.report
    check_notebooks(report.formats, NotebookOptions.of(report))
    paths = composed.settings.paths
    for root in {paths.output_dir, paths.store or paths.output_dir}:
        check_root(local_place(root))
    check_places(paths)
    return composed


def _refuse_without_effect(overrides: Sequence[str]) -> None:
    """Refuse overrides of what calls a skill: no skill is called."""
    keys = {override: override.partition("=")[0].lstrip("+~").partition("@")[0] for override in overrides}
    problems = tuple(
        Problem(
            where="command line",
            key=override,
            expected=f"a setting of {', '.join(_CHANGEABLE)}",
            hint="no skill is called; run it otherwise with `skilleval eval`",
        )
        for override, key in keys.items()
        if key.partition(".")[0] not in _CHANGEABLE
    )
    if problems:
        raise UsageError("a setting would have no effect on stored attempts", problems=problems)


def _settled(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run that nobody is writing, its rows made into tables.

    Raises:
        ResultsError: it is being written, or its rows are not what the skills said.
    """
    manifest = read_manifest(folder)
    compact(folder)
    if is_live(folder):
        msg = f"{folder} is still being written"
        raise ResultsError(msg, hint="wait for the run, or stop it with Ctrl-C")
    n = n_redacted(manifest)
    if n != 0:
        found = "an unknown number of places" if n is None else f"{n} places"
        problem = Problem(
            where=str(folder), key="privacy.redact", expected="rows as the skills gave them", found=found
        )
        raise ResultsError(
            "redacted attempts cannot be scored again: they are not what was said", problems=(problem,)
        )
    return manifest


def _left_out(
    manifest: Mapping[str, Any], rows: pl.LazyFrame, benchmark: Benchmark, folder: Path, *, is_allowed: bool
) -> dict[str, str]:
    """Say which stored tasks the benchmark of today does not ask any more, and why.

    Raises:
        ResultsError: the benchmark has changed, and nobody allowed that.
    """
    if benchmark.digest == manifest["benchmark"].get("digest"):
        return {}
    if not is_allowed:
        raise _changed(benchmark, folder)
    return _unlike(rows, benchmark)


def _changed(benchmark: Benchmark, folder: Path) -> ResultsError:
    problem = Problem(
        where=str(benchmark.source),
        expected=f"the benchmark that {folder.name} was run on",
        found=f"{benchmark.id}@{benchmark.version} with other content",
        hint="--allow-changed-benchmark scores the tasks whose input is the same by what they expect now",
    )
    return ResultsError("the benchmark has changed since the run", problems=(problem,))


def _unlike(rows: pl.LazyFrame, benchmark: Benchmark) -> dict[str, str]:
    """Say of each stored task that is not in the benchmark any more, or asks for something else, why it is left out."""
    now = {task.id: canonical_json(dict(task.input)) for task in benchmark.tasks}
    asked = rows.group_by("task_id").agg(pl.col("input").first()).sort("task_id").collect()
    told = {}
    for task_id, stored in asked.iter_rows():
        if task_id not in now:
            told[task_id] = "it is not in the benchmark any more"
        elif canonical_json(json.loads(stored)) != now[task_id]:
            told[task_id] = "its input is another one now"
    return told


def _skill(said: Mapping[str, Any]) -> Skill:
    """Give a skill as the manifest of a run tells of it; it may be gone from where it stood."""
    folder = Path(said["path"])
    return Skill(
        id=said["id"],
        version=said["version"],
        name=said["name"],
        adapter=said["adapter"],
        entrypoint="",
        folder=folder,
        source=folder / "skill.json",
        digest=said["digest"],
    )


def _trials(
    rows: pl.LazyFrame, skills: Sequence[Skill], benchmark: Benchmark, left_out: Mapping[str, str]
) -> Iterator[Trial]:
    """Lay out the stored trials again, under the keys they have."""
    known = {(skill.id, skill.version, skill.digest): skill for skill in skills}
    tasks: dict[str, Task] = {task.id: task for task in benchmark.tasks}
    conditions: dict[str, Condition] = {}
    columns = ("run_id", "task_id", "mode", "call_key", *_OF_TRIAL, *_OF_CONDITION)
    for row in rows.select(columns).collect().iter_rows(named=True):
        if row["task_id"] in left_out:
            continue
        condition = conditions.get(row["condition_id"]) or _condition(row)
        conditions[row["condition_id"]] = condition
        yield Trial(
            condition=condition,
            skill=known[condition.skill_id, condition.skill_version, condition.skill_digest],
            benchmark=benchmark,
            task=tasks[row["task_id"]],
            call_key=row["call_key"] or "",
            **{name: row[name] for name in _OF_TRIAL},
        )


def _condition(row: Mapping[str, Any]) -> Condition:
    if row["mode"] is None:
        msg = f"run {row['run_id']} does not say in which mode {row['skill_id']} was driven"
        raise ResultsError(msg, hint="an older version wrote it: evaluate again to score by other scorers")
    return Condition(mode=Mode(row["mode"]), **{name: row[name] for name in _OF_CONDITION})


def _check_any(trials: Sequence[Trial], folder: Path) -> None:
    if not trials:
        problem = Problem(where=str(folder), expected="at least one stored attempt to score", found="none")
        raise ResultsError("there is nothing to score", problems=(problem,))


def _shortfall(manifest: Mapping[str, Any], rows: pl.LazyFrame) -> list[str]:
    n, n_planned = int(rows.select(pl.len()).collect().item()), manifest["n_planned"]
    return [f"the run was cut short: it has {n} of {n_planned} trials"] if n < n_planned else []
