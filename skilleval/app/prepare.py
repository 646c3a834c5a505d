"""Getting a run ready: everything is read, checked and counted before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilleval.adapters.base import Adapter, Checking, isolation
from skilleval.app.arms import arms, unchanged
from skilleval.app.gate_rules import check_rules
from skilleval.app.keys import build_redactor, unset_variables
from skilleval.app.labels import with_labels
from skilleval.app.models import NONE, Models, build_models, model_digest
from skilleval.app.notebooks import NotebookOptions, check_notebooks
from skilleval.app.parts import (
    adapter_kind,
    adapter_options,
    build_adapters,
    build_sandbox,
    build_scorers,
    get_images_ready,
    sandbox_facts,
)
from skilleval.app.planning import Plan, build_plan, without_places
from skilleval.app.pushing import check_places
from skilleval.app.runnable import runnable
from skilleval.catalog.benchmarks import BenchmarkReading, find_benchmark, read_tasks
from skilleval.catalog.evals import EVALS, read_evals
from skilleval.catalog.read import Catalog, read_catalog, usable_skills
from skilleval.config.compose import Composed
from skilleval.config.settings import Settings
from skilleval.domain.hashes import content_hash
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Benchmark
from skilleval.domain.trials import Condition, Mode, Trial
from skilleval.errors import AdapterError, ConfigError
from skilleval.plan import PlannedSkill, PlanOptions, build_trials, longest_duration_s, n_cells
from skilleval.registry import part
from skilleval.report import WRITERS
from skilleval.results.places import local_place
from skilleval.results.redaction import Redactor
from skilleval.results.store import check_root
from skilleval.sandboxes.base import NETWORK, Sandbox
from skilleval.scorers.base import Scorer
from skilleval.sharding import shard_remark

CHAT = "chat"
NO_SANDBOX = "none"
_MAX_TRIALS = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run that is ready to start. `warnings` are what a user must know before the first trial.

    `trials` are those that run here: all of the `plan`, or one shard of it. The plan is null where attempts of a
    stored run are scored again.
    """

    composed: Composed
    skills: tuple[Skill, ...]
    benchmark: Benchmark
    trials: tuple[Trial, ...]
    adapters: Mapping[str, Adapter]
    sandbox: Sandbox
    scorers: Mapping[str, Scorer]
    models: Models
    redactor: Redactor
    warnings: tuple[str, ...]
    notices: tuple[str, ...]
    plan: Plan | None = None

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
            "modes": sorted({trial.condition.mode.value for trial in self.trials}),
            "concurrency": runner.concurrency,
            "longest_duration_s": longest,
            "output_dir": self.settings.paths.output_dir,
            "warnings": list(self.warnings),
        }


def prepare(composed: Composed, *, is_to_run: bool = True, builds: bool = True) -> Prepared:
    """Read skills and benchmark, make the parts, lay out the trials.

    What only a run needs (a token in the environment) is not asked for where nothing is to run. Images of skills are
    built unless `builds` is false, as it is where a run is only to be checked.

    Raises:
        SkillevalError: anything that would spoil the run, found before its first trial.
    """
    settings = composed.settings
    _check_writing(settings)
    if is_to_run:
        check_model(settings)
    catalog = read_skills(settings)
    if wants_instructions(settings):
        # Their problems, before their evals'.
        usable_skills(catalog, skip_invalid=settings.skill_set.skip_invalid)
    reading = read_benchmark(settings, catalog.skills)
    sandbox = build_sandbox(settings.sandbox, hidden=_hidden(settings, reading.benchmark))
    catalog, absent = runnable(catalog, settings, sandbox)
    skills = usable_skills(catalog, skip_invalid=settings.skill_set.skip_invalid)
    to_build = get_images_ready(skills, sandbox, builds=is_to_run and builds)
    check_rules(settings.gate.rules, composed.values, reading.benchmark)
    models = build_models(settings)
    scorers = build_scorers(settings.scorers, sandbox, models.judges)
    adapters = build_adapters(
        settings.adapter, skills, sandbox, worker_trials=_worker_trials(settings), model=models.subject
    )
    if is_to_run:
        _check_all(skills, adapters, models, settings)
    entries = arms(skills, settings)
    planned = [_planned(skill, mode, settings, sandbox, adapters) for skill, mode in entries]
    asked = {one.condition.condition_id: _asked(one, settings, adapters) for one in planned}
    whole = _trials(planned, reading.benchmark, settings)
    plan = build_plan(whole, asked, settings, scorers, reading.benchmark)
    trials = plan.share
    labelled = with_labels(scorers, whole, reading.benchmark)
    return Prepared(
        composed=composed,
        skills=skills,
        benchmark=reading.benchmark,
        trials=trials,
        adapters=adapters,
        sandbox=sandbox,
        scorers=labelled.scorers,
        models=models,
        redactor=build_redactor(settings, skills),
        warnings=(
            *(_about_machine(settings, sandbox, plan, n_here=len(trials)) if is_to_run else ()),
            *_unguarded_servers(skills, settings, sandbox),
            *_about_skills(catalog, absent, entries),
            *unjudged_tasks(reading.benchmark, scorers),
            *labelled.warnings,
        ),
        notices=(*catalog.notices, *reading.notices, *_about_images(to_build)),
        plan=plan,
    )


def _about_machine(settings: Settings, sandbox: Sandbox, plan: Plan, *, n_here: int) -> list[str]:
    """Warn of what is no fault of any skill: a part of the plan only, a weak sandbox, variables that are not set."""
    shard = [shard_remark(plan.place, n_here)] if plan.n_shards > 1 else []
    return [*shard, *sandbox.warnings, *unset_variables(settings)]


def _about_skills(
    catalog: Catalog, absent: Sequence[str], entries: Sequence[tuple[Skill, Mode]]
) -> list[str]:
    """Warn of skills that are left out, and of editions that are the same."""
    return [*absent, *(f"left out: {problem}" for problem in catalog.problems), *unchanged(entries)]


def _about_images(to_build: Sequence[str]) -> list[str]:
    return [f"{name}: its image is to be built" for name in to_build]


def _check_writing(settings: Settings) -> None:
    """Check that reports and rows can be written as and where they are wanted."""
    for name in settings.report.formats:
        part(WRITERS, name, key="report.formats", group="writers")
    check_notebooks(settings.report.formats, NotebookOptions.of(settings.report))
    for root in {settings.paths.output_dir, settings.paths.store or settings.paths.output_dir}:
        check_root(local_place(root))
    check_places(settings.paths)


def _trials(planned: Sequence[PlannedSkill], benchmark: Benchmark, settings: Settings) -> tuple[Trial, ...]:
    runner = settings.runner
    options = PlanOptions(repeats=runner.repeats, seed=runner.seed, timeout_ms=runner.timeout_ms)
    return build_trials(planned, benchmark, _countable(options, planned, benchmark))


def read_skills(settings: Settings) -> Catalog:
    """Read the skills of the form that is to be evaluated: instructions for a model, or callable ones."""
    chosen = settings.skill_set
    return read_catalog(
        [Path(path) for path in chosen.paths],
        form="instruction" if wants_instructions(settings) else "callable",
        include=chosen.include,
        exclude=chosen.exclude,
        strict=chosen.strict,
    )


def wants_instructions(settings: Settings) -> bool:
    """Say whether it is instruction skills that are evaluated."""
    return settings.benchmark.name == EVALS or settings.adapter.kind == CHAT


def check_model(settings: Settings) -> None:
    """Check that there is a model for instruction skills.

    Raises:
        ConfigError: there is none.
    """
    if wants_instructions(settings) and settings.model.kind == NONE:
        hint = "name one with --target MODEL (and --base-url), or choose model=openai or model=local"
        raise ConfigError("instruction skills are given to a model, and none is named", hint=hint)


def _check_all(
    skills: Sequence[Skill], adapters: Mapping[str, Adapter], models: Models, settings: Settings
) -> None:
    """Check what only a run needs: keys, programs, prices under a budget.

    Raises:
        SkillevalError: something is missing.
    """
    for skill in skills:
        adapter = adapters[adapter_kind(settings.adapter, skill)]
        if isinstance(adapter, Checking):
            adapter.check(skill)
    models.check()


def read_benchmark(settings: Settings, skills: Sequence[Skill]) -> BenchmarkReading:
    """Read the benchmark that the settings name; `evals` is what the skills bring themselves.

    Raises:
        CatalogError: it is not found, or cannot be used.
    """
    benchmark = settings.benchmark
    if benchmark.name == EVALS and benchmark.tasks is None:
        return read_evals(skills, strict=settings.skill_set.strict)
    data = Path(benchmark.data) if benchmark.data else None
    if benchmark.tasks is not None:
        return read_tasks(Path(benchmark.tasks), data=data)
    return find_benchmark(benchmark.name, [Path(root) for root in benchmark.roots], data=data)


def _hidden(settings: Settings, benchmark: Benchmark) -> tuple[Path, ...]:
    """Name what no skill may see, even where it lies inside the skill's folder: results, and what is expected."""
    paths = settings.paths
    named = (paths.output_dir, paths.store, paths.cache, settings.benchmark.data)
    return (
        *(local_place(path).absolute() for path in named if path is not None),
        benchmark.source.absolute(),
    )


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
    skill: Skill, mode: Mode, settings: Settings, sandbox: Sandbox, adapters: Mapping[str, Adapter]
) -> PlannedSkill:
    kind = adapter_kind(settings.adapter, skill)
    if kind == CHAT:
        return PlannedSkill(skill=skill, condition=_chat_condition(skill, mode, settings, adapters[kind]))
    options = (
        *_options(kind, settings, adapters[kind]),
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


def _options(kind: str, settings: Settings, adapter: Adapter) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give what adapter and sandbox were told, wherever the files lie that it names."""
    told = without_places(adapter, adapter_options(settings.adapter, kind))
    return told, dict(settings.sandbox.options)


def _asked(one: PlannedSkill, settings: Settings, adapters: Mapping[str, Adapter]) -> str:
    """Hash a condition without what the sandbox of this machine happens to enforce."""
    condition = one.condition
    if condition.adapter == CHAT:
        return condition.condition_id
    options = _options(condition.adapter, settings, adapters[condition.adapter])
    return replace(condition, options_digest=content_hash(*options)).condition_id


def _chat_condition(skill: Skill, mode: Mode, settings: Settings, adapter: Adapter) -> Condition:
    """Describe a turn with a model: no program of the skill runs, so the sandbox plays no part."""
    options = dict(adapter_options(settings.adapter, CHAT)), model_digest(settings.model)
    return Condition(
        skill_id=skill.id,
        skill_version=skill.version,
        skill_digest=skill.digest,
        adapter=CHAT,
        sandbox=NO_SANDBOX,
        model=str(settings.model.options["name"]),
        mode=mode,
        options_digest=content_hash(*options),
        isolation=isolation(adapter),
    )


def _countable(options: PlanOptions, planned: Sequence[PlannedSkill], benchmark: Benchmark) -> PlanOptions:
    n_trials = n_cells(planned, benchmark) * options.repeats
    if n_trials > _MAX_TRIALS:
        msg = f"{n_trials:,} trials are more than one run can hold ({_MAX_TRIALS:,})"
        raise ConfigError(msg, hint="lower runner.repeats, or split skills and tasks over several runs")
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
