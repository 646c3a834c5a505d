"""The Python interface: evaluate, summarise, compare and select, with frames in place of tables of text."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import polars as pl

from skilleval.analytics import summary as summaries
from skilleval.app import diffing, selecting
from skilleval.app.compare import MARGIN
from skilleval.app.evaluate import evaluate as run_all
from skilleval.app.history import read_store
from skilleval.app.prepare import prepare
from skilleval.app.runs import Run, open_run
from skilleval.app.stored import collected, readable, stored
from skilleval.app.strategy import read_strategy, with_options
from skilleval.app.thread import outside_of_loops
from skilleval.catalog.read import read_catalog, usable_skills
from skilleval.config.compose import Composed, compose_settings, quote
from skilleval.errors import Problem, UsageError
from skilleval.results.find import PREVIOUS

log = logging.getLogger(__name__)

AnyRun: TypeAlias = Run | str | Path
"""A run, or what finds one: its folder, its id or a part of it, or `latest`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs side by side; the first one is the baseline.

    `skills` has a row a skill × scorer × metric, `tasks` a row a skill × scorer × task, `flips` a row a task whose
    verdict moved; columns and units stand in `docs/api.md`. `warnings` say what differs besides the skills.
    """

    skills: pl.DataFrame
    tasks: pl.DataFrame
    flips: pl.DataFrame
    warnings: tuple[str, ...]


def evaluate(overrides: Iterable[str] = (), *, project: str | Path | None = None) -> Run:
    """Run what the settings say, as `skilleval eval` does, and give the stored run.

    `overrides` are those of the command line, e.g. `"skill_set.paths=[my-skill]"`. `project` is the folder with
    `skilleval.yaml`, `conf/` and `benchmarks/`, where relative paths of the settings begin; the working directory is
    the default. Works inside a running event loop too. What a skill did wrong is in the rows, never an exception.

    Raises:
        SkillevalError: something is wrong with settings, skills or benchmark; nothing was run then.
    """
    if isinstance(overrides, str):  # an iterable of strings, too: its letters
        raise UsageError("overrides are a list", hint=f"write [{overrides!r}]")
    chosen = tuple(overrides)
    place = None if project is None else Path(project)
    return Run(outside_of_loops(lambda: _evaluated(chosen, place)))


def _evaluated(overrides: tuple[str, ...], project: Path | None) -> Path:
    prepared = prepare(_composed(overrides, project))
    for warning in prepared.warnings:
        log.warning("%s", warning)
    return run_all(prepared, observe=lambda _: None, command=("eval", *overrides)).folder


def _composed(overrides: tuple[str, ...], project: Path | None) -> Composed:
    composed = compose_settings(overrides, project=project or Path.cwd())
    if project is None or project.resolve() == Path.cwd():
        return composed
    anchored = tuple(_anchored(composed, project.resolve()))
    return compose_settings((*overrides, *anchored), project=project)


def _anchored(composed: Composed, project: Path) -> Iterator[str]:
    """Let relative paths of the settings begin in the project."""
    settings = composed.settings
    single = {
        "paths.output_dir": settings.paths.output_dir,
        "paths.store": settings.paths.store,
        "paths.cache": settings.paths.cache,
        "benchmark.tasks": settings.benchmark.tasks,
        "benchmark.data": settings.benchmark.data,
    }
    several = {"skill_set.paths": settings.skill_set.paths, "benchmark.roots": settings.benchmark.roots}
    for key, path in single.items():
        if path is not None and not Path(path).is_absolute():
            yield f"{key}={quote(str(project / path))}"
    for key, paths in several.items():
        if not all(Path(path).is_absolute() for path in paths):
            yield f"{key}={quote([str(project / path) for path in paths])}"


def summary(runs: AnyRun | Sequence[AnyRun], *, store: str | Path = "outputs") -> pl.DataFrame:
    """Summarise one run or several, each by the formulas it was composed with.

    Grain: one row a run × condition × scorer.
    Columns: `run_id`, what makes a condition, then every metric of `docs/methods.md`; shares are 0-1, times in ms.

    Raises:
        ResultsError: a run is not found, or cannot be read.
    """
    chosen = [runs] if isinstance(runs, Run | str | Path) else list(runs)
    found = [_summary(_run(one, store)) for one in chosen]
    return pl.concat(found) if found else pl.DataFrame()


def _summary(run: Run) -> pl.DataFrame:
    one = stored(run.folder)
    with readable(run.folder):
        n_trials = (one.manifest.get("counts") or {}).get("trials")
        rows = collected(summaries.summary(one.trials, one.scores, spec=one.spec), n_trials=n_trials)
    return rows.select(pl.lit(run.run_id).alias("run_id"), pl.all())


def _run(run: AnyRun, store: str | Path) -> Run:
    return run if isinstance(run, Run) else open_run(run, store=store)


def compare(
    baseline: AnyRun, candidate: AnyRun, *, margin: float = MARGIN, store: str | Path = "outputs"
) -> Comparison:
    """Compare two runs, paired over the tasks they share, as `skilleval diff` does; `margin` is a change that is none.

    As the baseline `"previous"` is the newest earlier run that can be compared.

    Raises:
        UsageError: the margin is no share.
        ResultsError: a run cannot be read, or they share no skill and scorer on one benchmark.
    """
    if not 0 < margin < 1:
        problem = Problem(
            where="margin", expected="a share between 0 and 1, both excluded", found=f"{margin:g}"
        )
        raise UsageError("with this margin nothing could be told", problems=(problem,))
    after = _run(candidate, store).folder
    is_previous = baseline == PREVIOUS
    before = diffing.earlier_run(after, Path(store)) if is_previous else _run(baseline, store).folder
    one, other = diffing.read_sides(str(before), str(after), Path(store))
    with readable(after):
        frames = diffing.compared(one, other, margin=margin, level=diffing.level_of(one, other))
    if not (frames.pairs["side"] == "both").any():
        raise diffing.nothing_shared(one, other)
    about = frames.pairs.select("pair", "skill_id", "scorer", "mode", "benchmark_id")
    named = [
        about.join(frame, on="pair").drop("pair") for frame in (frames.effects, frames.tasks, frames.flips)
    ]
    skills, tasks, flips = named
    return Comparison(
        skills=skills, tasks=tasks, flips=flips, warnings=tuple(diffing.differences(one, other))
    )


def select(  # noqa: PLR0913 - keywords: each is an option of the command
    skills: str | Path | Sequence[str | Path],
    *,
    strategy: str | Path | None = None,
    min_completion: float | None = None,
    top_k: int | None = None,
    benchmark: str | None = None,
    scorer: str | None = None,
    store: str | Path = "outputs",
) -> pl.DataFrame:
    """Filter and rank skills by what stored runs say of them, as `skilleval select` does.

    Grain: one row a skill; the selected ones first, in their order.
    Columns: `rank`, `selected`, `reasons` (why it is left out), the skill, and its figures (shares 0-1, times in ms).

    Raises:
        SkillevalError: a skill or the strategy cannot be read, or the benchmark is not clear.
    """
    _check_select(min_completion, top_k)
    paths = [skills] if isinstance(skills, str | Path) else list(skills)
    found = usable_skills(read_catalog([Path(path) for path in paths]), skip_invalid=True)
    spec = with_options(
        read_strategy(None if strategy is None else Path(strategy)),
        min_completion=min_completion,
        top_k=top_k,
    )
    history = read_store(Path(store), found)
    for notice in history.notices:
        log.warning("%s", notice)
    ranking = selecting.select(found, history, spec=spec, benchmark=benchmark, scorer=scorer)
    return pl.DataFrame(ranking.rows, infer_schema_length=None)


def _check_select(min_completion: float | None, top_k: int | None) -> None:
    """Refuse what the command line refuses, in place of an empty table."""
    problems = []
    if min_completion is not None and not 0 <= min_completion <= 1:
        found = f"{min_completion:g}"
        problems.append(Problem(where="min_completion", expected="a share between 0 and 1", found=found))
    if top_k is not None and top_k < 0:
        problems.append(Problem(where="top_k", expected="0, which takes all, or more", found=str(top_k)))
    if problems:
        raise UsageError("nothing can be selected so", problems=tuple(problems))
