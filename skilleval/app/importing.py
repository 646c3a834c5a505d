"""Importing the results of another tool: they become an ordinary run, which says where it comes from."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from skilleval.app.analyse import trials_by_status
from skilleval.app.pushing import send
from skilleval.catalog.benchmarks import find_benchmark
from skilleval.catalog.read import read_catalog
from skilleval.clock import Clock
from skilleval.config.compose import Composed
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Benchmark
from skilleval.domain.trials import Mode
from skilleval.errors import CatalogError, Problem, ResultsError, UsageError
from skilleval.provenance import new_run_id, versions
from skilleval.results.importers import IMPORTERS, Importer
from skilleval.results.importers.base import (
    ImportedBenchmark,
    ImportedRun,
    ImportedTrial,
    ImportOptions,
)
from skilleval.results.importers.files import digest
from skilleval.results.importers.lines import check_distinct, lines
from skilleval.results.locks import RunLock
from skilleval.results.places import local_place
from skilleval.results.redaction import Redactor
from skilleval.results.rows import storable
from skilleval.results.schema import SCHEMA_VERSION
from skilleval.results.store import compact, create_run, journal_path, write_manifest
from skilleval.strict import nearest

AUTO = "auto"
_KEPT = ("analysis", "benchmark", "skill_set", "gate", "report", "privacy", "paths", "experiment_name")
"""Settings that say something about imported rows; nothing else of ours was in force when they were made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is imported: the path as the user wrote it, and the importer that reads it."""

    path: Path
    importer: Importer


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFolder:
    """A run that was written, and what is worth saying about it."""

    folder: Path
    manifest: Mapping[str, Any]

    def facts(self) -> dict[str, Any]:
        """Give the run as JSON."""
        return {
            "run_id": self.folder.name,
            "run_dir": str(self.folder),
            "benchmark": self.manifest["benchmark"]["id"],
            "counts": self.manifest["counts"],
            "imported_from": {
                key: value for key, value in self.manifest["imported_from"].items() if key != "published"
            },
            "warnings": self.manifest["warnings"],
        }


def find_source(path: Path, wanted: str = AUTO) -> Source:
    """Find out which importer reads a path.

    Raises:
        ResultsError: nothing is there, or no importer knows it.
        UsageError: there is no such format.
    """
    names = list(dict.fromkeys(one.name for one in IMPORTERS))
    if wanted not in {AUTO, *names}:
        problem = Problem(
            where="--format",
            expected=f"one of {AUTO}, {', '.join(names)}",
            found=wanted,
            hint=nearest(wanted, names),
        )
        raise UsageError("there is no such format", problems=(problem,))
    if not path.exists():
        problem = Problem(where=str(path), expected="a file or folder", found="nothing there")
        raise ResultsError("the results cannot be imported", problems=(problem,))
    asked = [one for one in IMPORTERS if wanted in {AUTO, one.name}]
    found = next((one for one in asked if one.recognises(path)), None)
    # Of a format that the user names the importer itself says best what is wrong.
    if found is None and wanted != AUTO:
        found = asked[0]
    if found is None:
        hint = f"name it with --format: {', '.join(names)}"
        expected = ", ".join(one.what for one in IMPORTERS)
        problem = Problem(where=str(path), expected=expected, found="none of these", hint=hint)
        raise ResultsError("the results cannot be imported", problems=(problem,))
    return Source(path=path, importer=found)


def import_results(
    source: Source,
    options: ImportOptions,
    *,
    composed: Composed,
    command: str,
    skills: Path | None = None,
) -> tuple[ImportedFolder, ...]:
    """Read the results of another tool and write them as runs, one for each run of that tool.

    Raises:
        SkillevalError: a file is unknown or damaged, or the results cannot be written.
    """
    try:
        runs = source.importer.read(source.path, options)
    except OSError as error:
        problem = Problem(where=str(error.filename or source.path), found=error.strerror or str(error))
        raise ResultsError("the results cannot be imported", problems=(problem,)) from None
    _check_any(runs, source.path)
    known = () if skills is None else _skills(skills)
    benchmark = _benchmark(composed, options)
    runs = tuple(_identified(_asked(run, benchmark), known) for run in runs)
    for run in runs:
        check_distinct(run)
    about = {
        "format": source.importer.name,
        "what": source.importer.what,
        "path": str(source.path),
        "digest": digest(source.path),
    }
    return tuple(_written(run, about, composed, command) for run in runs)


def _check_any(runs: Sequence[ImportedRun], path: Path) -> None:
    if not any(run.trials for run in runs):
        problem = Problem(where=str(path), expected="at least one attempt", found="none")
        raise ResultsError("the results cannot be imported", problems=(problem,))


def _skills(path: Path) -> tuple[Skill, ...]:
    """Read the skills that were evaluated, callable ones and instructions alike.

    Raises:
        CatalogError: there is none.
    """
    catalogs = [read_catalog([path]), read_catalog([path], form="instruction")]
    found = tuple(skill for catalog in catalogs for skill in catalog.skills)
    if not found:
        raise CatalogError("no usable skill was found", problems=catalogs[0].problems)
    return found


def _benchmark(composed: Composed, options: ImportOptions) -> Benchmark | None:
    """Read the benchmark that the user names; an id that nothing here carries is only a name.

    Raises:
        CatalogError: a file is named, and it is none.
    """
    if options.benchmark is None:
        return None
    roots = [Path(root) for root in composed.settings.benchmark.roots]
    try:
        return find_benchmark(options.benchmark, roots).benchmark
    except CatalogError:
        if Path(options.benchmark).exists() or "/" in options.benchmark:
            raise
        return None


def _asked(run: ImportedRun, benchmark: Benchmark | None) -> ImportedRun:
    """Add what the benchmark says of its tasks; where it says nothing, rows keep what the other tool said."""
    if benchmark is None:
        return run
    tasks = {task.id: task for task in benchmark.tasks}
    strange = sorted({trial.task_id for trial in run.trials} - tasks.keys())
    told = [f"{len(strange)} tasks are not in {benchmark.id}@{benchmark.version}: {', '.join(strange[:5])}"]

    def known(trial: ImportedTrial) -> ImportedTrial:
        task = tasks.get(trial.task_id)
        if task is None:
            return trial
        return replace(
            trial,
            input=dict(task.input),
            expected=dict(task.expected),
            task_tags=task.tags,
            task_weight=task.weight,
            timeout_ms=task.timeout_ms,
        )

    return replace(
        run,
        benchmark=ImportedBenchmark(
            id=benchmark.id,
            version=benchmark.version,
            name=benchmark.name,
            digest=None if strange else benchmark.digest,
            path=str(benchmark.source),
            scoring_method=benchmark.scoring_method,
            k=benchmark.k,
            max_latency_ms=benchmark.max_latency_ms,
        ),
        trials=tuple(known(trial) for trial in run.trials),
        remarks=(*run.remarks, *(told if strange else [])),
    )


def _identified(run: ImportedRun, skills: Sequence[Skill]) -> ImportedRun:
    """Give trials the edition of the skill that the user says was evaluated, unless the other tool says otherwise."""
    by_id = {skill.id: skill for skill in skills}
    told: dict[str, None] = {}

    def known(trial: ImportedTrial) -> ImportedTrial:
        skill = by_id.get(trial.skill_id)
        if skill is None or trial.mode in {Mode.WITHOUT_SKILL, Mode.OLD_SKILL}:
            return trial
        if trial.skill_version not in {None, skill.version}:
            told[f"{skill.source} is {skill.version}, not the {trial.skill_version} that was evaluated"] = (
                None
            )
            return trial
        return replace(trial, skill_version=skill.version, skill_digest=skill.digest)

    trials = tuple(known(trial) for trial in run.trials)
    return replace(run, trials=trials, remarks=(*run.remarks, *told))


def _written(run: ImportedRun, about: Mapping[str, Any], composed: Composed, command: str) -> ImportedFolder:
    clock = Clock()
    paths = composed.settings.paths
    now = clock.utc()
    # A run is found by its age, and its age is that of its trials where it is known.
    run_id = new_run_id(run.started_at or run.ended_at or now)
    manifest = _manifest(run, about, composed, run_id=run_id, command=command, now=now)
    folder = create_run(local_place(paths.store or paths.output_dir), run_id)
    with ExitStack() as on_failure:
        on_failure.callback(shutil.rmtree, folder, ignore_errors=True)
        lock = RunLock(folder)
        on_failure.callback(lock.release)
        redactor = Redactor(composed.settings.privacy.redact)
        _write_lines(journal_path(folder), lines(run, run_id=run_id, redactor=redactor))
        compact(folder, lock=lock)
        manifest["privacy"]["n_redacted"] = redactor.n_redacted
        manifest["counts"] = {
            "trials": len(run.trials),
            "by_status": trials_by_status(folder),
            "judge_errors": 0,
        }
        write_manifest(folder, manifest)
        lock.release()
        on_failure.pop_all()
    send(folder)
    return ImportedFolder(folder=folder, manifest=manifest)


def _write_lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    def encode(line: object) -> bytes:
        return json.dumps(line, ensure_ascii=False, allow_nan=False).encode()

    with path.open("xb") as file:
        file.writelines(storable(row, encode) + b"\n" for row in rows)


def _manifest(  # noqa: PLR0913 - keywords: each is a fact of its own
    run: ImportedRun,
    about: Mapping[str, Any],
    composed: Composed,
    *,
    run_id: str,
    command: str,
    now: datetime,
) -> dict[str, Any]:
    """Describe the run as far as it is known; what was in force is the other tool's, so no setting of ours is said."""
    ended, n_repeats = run.ended_at or run.started_at, 1 + max(trial.repeat for trial in run.trials)
    origin = f"imported from {about['path']} ({about['what']}): its settings and limits are not known"
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": run_id,
        "sweep_id": None,
        "experiment": composed.settings.experiment_name,
        "command": command,
        "folder": str(Path.cwd()),
        "imported_from": {
            **about,
            "tool_version": run.tool_version,
            "started_at": _utc(run.started_at),
            "ended_at": _utc(run.ended_at),
            "imported_at": _utc(now),
            "published": run.published,
        },
        "config": _config(composed, n_repeats),
        "overrides": [],
        "choices": {},
        "runner": {"repeats": n_repeats},
        "models": {},
        "sandbox": {"name": None, "warnings": []},
        "privacy": {"redact": list(composed.settings.privacy.redact), "egress": [], "n_redacted": None},
        "versions": versions(),
        "platform": {},
        "git": None,
        "skills": list(_skill_facts(run)),
        "benchmark": _benchmark_facts(run),
        "scorers": {
            check.scorer: {"kind": check.rule, "version": "", "options": {}}
            for trial in run.trials
            for check in trial.checks
        },
        "seeds": {},
        "n_planned": max(run.n_planned or 0, len(run.trials)),
        "plan_digest": None,
        "started_at": _utc(run.started_at or ended or now),
        "ended_at": _utc(ended or now),
        "resumes": [],
        "interrupted": run.interrupted,
        "stopped_by": None,
        "exit_code": None,
        "notices": [],
        "warnings": [origin, *run.remarks],
    }


def _config(composed: Composed, n_repeats: int) -> dict[str, Any]:
    kept = {key: composed.values[key] for key in _KEPT}
    # The seed is that of the analysis: of its bootstrap, not of anything that ran.
    return {**kept, "runner": {"repeats": n_repeats, "seed": composed.settings.runner.seed}}


def _skill_facts(run: ImportedRun) -> Iterator[dict[str, Any]]:
    found = {(trial.skill_id, trial.skill_version, trial.skill_digest): trial for trial in run.trials}
    for (name, version, content), trial in found.items():
        yield {
            "id": name,
            "version": version or "",
            "name": name,
            "adapter": trial.adapter,
            "digest": content or "",
            "path": "",
        }


def _benchmark_facts(run: ImportedRun) -> dict[str, Any]:
    about = run.benchmark
    return {
        "id": about.id,
        "version": about.version or "",
        "name": about.name or about.id,
        "digest": about.digest,
        "path": about.path,
        "n_tasks": len({trial.task_id for trial in run.trials}),
        "scoring_method": about.scoring_method,
        "k": about.k,
        "max_latency_ms": about.max_latency_ms,
    }


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="milliseconds")


def totals(run: ImportedFolder) -> str:
    """Say in a line what a run holds."""
    counts: Counter[str] = Counter(run.manifest["counts"]["by_status"])
    said = ", ".join(f"{n} {status}" for status, n in counts.most_common())
    tasks = run.manifest["benchmark"]["n_tasks"]
    return f"{run.manifest['counts']['trials']} trials of {tasks} tasks ({said})"
