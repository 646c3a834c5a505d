"""Getting a run ready: everything is read, checked and counted before anything is written."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilleval.adapters.base import Adapter, Checking, isolation
from skilleval.app.keys import build_redactor, unset_variables
from skilleval.app.parts import (
    adapter_kind,
    adapter_options,
    build_adapters,
    build_sandbox,
    build_scorers,
    known_adapters,
    sandbox_facts,
)
from skilleval.catalog.benchmarks import BenchmarkReading, find_benchmark, read_tasks
from skilleval.catalog.read import Catalog, read_catalog, usable_skills
from skilleval.config.compose import Composed
from skilleval.config.settings import PartSettings, Settings
from skilleval.domain import Benchmark, Condition, Skill, Trial, content_hash
from skilleval.errors import AdapterError, Problem, UsageError
from skilleval.plan import PlannedSkill, PlanOptions, build_trials, longest_duration_s
from skilleval.registry import part
from skilleval.report import WRITERS
from skilleval.results.redaction import Redactor
from skilleval.results.store import check_root
from skilleval.sandboxes.base import NETWORK, Sandbox
from skilleval.scorers.base import Scorer

_MAX_TRIALS = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run that is ready to start. `warnings` are what a user must know before the first trial."""

    composed: Composed
    skills: tuple[Skill, ...]
    benchmark: Benchmark
    trials: tuple[Trial, ...]
    adapters: Mapping[str, Adapter]
    sandbox: Sandbox
    scorers: Mapping[str, Scorer]
    redactor: Redactor
    warnings: tuple[str, ...]
    notices: tuple[str, ...]

    @property
    def settings(self) -> Settings:
        """The settings behind it."""
        return self.composed.settings

    def facts(self) -> dict[str, Any]:
        """Count and estimate, as `--dry-run` shows it."""
        runner = self.settings.runner
        longest = longest_duration_s(self.trials, concurrency=runner.concurrency, retries=runner.retries)
        return {
            "skills": [f"{skill.id} {skill.version}" for skill in self.skills],
            "benchmark": f"{self.benchmark.id}@{self.benchmark.version}",
            "scorers": sorted(self.scorers),
            "n_skills": len(self.skills),
            "n_tasks": len(self.benchmark.tasks),
            "repeats": runner.repeats,
            "n_trials": len(self.trials),
            "concurrency": runner.concurrency,
            "longest_duration_s": longest,
            "output_dir": self.settings.paths.output_dir,
            "warnings": list(self.warnings),
        }


def prepare(composed: Composed, *, is_to_run: bool = True) -> Prepared:
    """Read skills and benchmark, make the parts, lay out the trials.

    What only a run needs (a token in the environment) is not asked for where nothing is to run.

    Raises:
        SkillevalError: anything that would spoil the run, found before its first trial.
    """
    settings = composed.settings
    for name in settings.report.formats:
        part(WRITERS, name, key="report.formats", group="writers")
    for root in {settings.paths.output_dir, settings.paths.store or settings.paths.output_dir}:
        check_root(Path(root))
    reading = read_benchmark(settings)
    sandbox = build_sandbox(settings.sandbox, hidden=_hidden(settings, reading.benchmark))
    scorers = build_scorers(settings.scorers, sandbox)
    catalog = _drivable(read_catalog([Path(path) for path in settings.skill_set.paths]), settings.adapter)
    catalog, absent = _runnable(catalog, settings)
    skills = usable_skills(catalog, skip_invalid=settings.skill_set.skip_invalid)
    adapters = build_adapters(settings.adapter, skills, sandbox, worker_trials=_worker_trials(settings))
    for skill in skills:
        adapter = adapters[adapter_kind(settings.adapter, skill)]
        if is_to_run and isinstance(adapter, Checking):
            adapter.check(skill)
    unguarded = _unguarded_servers(skills, settings, sandbox)
    planned = [_planned(skill, settings, sandbox, adapters) for skill in skills]
    options = PlanOptions(
        repeats=settings.runner.repeats, seed=settings.runner.seed, timeout_ms=settings.runner.timeout_ms
    )
    left_out = [f"left out: {problem}" for problem in catalog.problems]
    return Prepared(
        composed=composed,
        skills=skills,
        benchmark=reading.benchmark,
        trials=build_trials(planned, reading.benchmark, _countable(options, planned, reading.benchmark)),
        adapters=adapters,
        sandbox=sandbox,
        scorers=scorers,
        redactor=build_redactor(settings, skills),
        warnings=(
            *sandbox.warnings,
            *unset_variables(settings),
            *unguarded,
            *absent,
            *left_out,
            *unjudged_tasks(reading.benchmark, scorers),
        ),
        notices=(*catalog.notices, *reading.notices),
    )


def read_benchmark(settings: Settings) -> BenchmarkReading:
    """Read the benchmark that the settings name.

    Raises:
        CatalogError: it is not found, or cannot be used.
    """
    benchmark = settings.benchmark
    data = Path(benchmark.data) if benchmark.data else None
    if benchmark.tasks is not None:
        return read_tasks(Path(benchmark.tasks), data=data)
    return find_benchmark(benchmark.name, [Path(root) for root in benchmark.roots], data=data)


def _drivable(catalog: Catalog, adapter: PartSettings) -> Catalog:
    """Set skills apart that no adapter here can drive."""
    known = known_adapters()
    problems = [
        Problem(
            where=str(skill.source),
            key="adapterType",
            expected=f"one of {', '.join(known)}",
            found=skill.adapter,
            hint="choose how to drive it with adapter=KIND",
        )
        for skill in catalog.skills
        if adapter_kind(adapter, skill) not in known and adapter_kind(adapter, skill) == skill.adapter
    ]
    strangers = {problem.where for problem in problems}
    skills = tuple(skill for skill in catalog.skills if str(skill.source) not in strangers)
    return Catalog(skills=skills, problems=(*catalog.problems, *problems), notices=catalog.notices)


def _runnable(catalog: Catalog, settings: Settings) -> tuple[Catalog, list[str]]:
    """Leave out skills whose program is not on this machine, where that is asked for, and name them."""
    if not settings.skill_set.only_runnable:
        return catalog, []
    needs = [(skill, missing_program(skill)) for skill in catalog.skills]
    absent = [f"{skill.id} left out: {word} is not on the PATH" for skill, word in needs if word is not None]
    skills = tuple(skill for skill, word in needs if word is None)
    return replace(catalog, skills=skills), absent


def missing_program(skill: Skill) -> str | None:
    """Give the program that a skill needs and this machine lacks; null where all is there or none is needed."""
    serve = skill.adapter_options.get("serve")
    words = [skill.entrypoint.split()[0]] if skill.adapter == "subprocess" else []
    words += [str(serve["command"][0])] if serve else []
    return next((word for word in words if "/" not in word and shutil.which(word) is None), None)


def _hidden(settings: Settings, benchmark: Benchmark) -> tuple[Path, ...]:
    """Name what no skill may see, even where it lies inside the skill's folder: results, and what is expected."""
    paths = settings.paths
    named = (paths.output_dir, paths.store, paths.cache, settings.benchmark.data)
    return (*(Path(path).absolute() for path in named if path is not None), benchmark.source.absolute())


def _unguarded_servers(skills: Sequence[Skill], settings: Settings, sandbox: Sandbox) -> list[str]:
    """Warn of skills whose servers have the network although the sandbox keeps it from all others.

    Raises:
        AdapterError: no program may have it.
    """
    served = [skill.id for skill in skills if skill.adapter_options.get("serve")]
    if not served or not sandbox.serves_unguarded:
        return []
    said = f"the servers of {', '.join(served)} have the network of this machine"
    if NETWORK in settings.sandbox.options.get("require", ()):
        hint = "install bubblewrap, or leave these skills out"
        raise AdapterError(f"sandbox.require asks for {NETWORK}, but {said}", hint=hint)
    return [f"{said}: only bubblewrap can give them one of their own"]


def _worker_trials(settings: Settings) -> int | None:
    """Give the number of trials that one program serves; null where each trial has its own."""
    return settings.runner.worker_trials if settings.runner.isolation == "worker" else None


def _planned(
    skill: Skill, settings: Settings, sandbox: Sandbox, adapters: Mapping[str, Adapter]
) -> PlannedSkill:
    kind = adapter_kind(settings.adapter, skill)
    options = (
        dict(adapter_options(settings.adapter, kind)),
        dict(settings.sandbox.options),
        sorted(sandbox.guarantees),
        *([images] if (images := sandbox_facts(sandbox).get("images")) else []),
    )
    condition = Condition(
        skill_id=skill.id,
        skill_version=skill.version,
        skill_digest=skill.digest,
        adapter=kind,
        sandbox=sandbox.name,
        options_digest=content_hash(*options),
        isolation=isolation(adapters[kind]),
    )
    return PlannedSkill(skill=skill, condition=condition)


def _countable(options: PlanOptions, planned: Sequence[PlannedSkill], benchmark: Benchmark) -> PlanOptions:
    n_trials = len(planned) * len(benchmark.tasks) * options.repeats
    if n_trials > _MAX_TRIALS:
        msg = f"{n_trials:,} trials are more than one run can hold ({_MAX_TRIALS:,})"
        raise UsageError(msg, hint="lower runner.repeats, or split skills and tasks over several runs")
    return options


def unjudged_tasks(benchmark: Benchmark, scorers: Mapping[str, Scorer]) -> list[str]:
    """Warn of tasks whose own evaluator is not there: they are going to be ungraded."""
    if "task" not in scorers:
        return []
    options = scorers["task"].info.options
    named = [task.evaluator.kind for task in benchmark.tasks if task.evaluator]
    absent = sorted({kind for kind in named if kind not in options})
    return [
        f"{sum(kind == one for kind in named)} tasks name the evaluator {one!r}, which is not there: "
        f"they will be ungraded under scorer=task"
        for one in absent
    ]
