"""What every command that evaluates shares: options as overrides, getting ready, running with progress."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Common, Many
from skilleval.cli.formats import REPORT_FORMATS, FormatName
from skilleval.cli.request import Request
from skilleval.errors import Problem, SkillevalError, UsageError

if TYPE_CHECKING:
    from skilleval.app.evaluate import Outcome
    from skilleval.app.opening import OpenRun
    from skilleval.app.prepare import Prepared
    from skilleval.app.resume import StoredRun
    from skilleval.cli.console import Screen
    from skilleval.cli.watching import LogOptions
    from skilleval.config.compose import Composed

log = logging.getLogger(__name__)

_OPTIONS = (
    click.option(
        "--benchmark",
        shell_complete=completion.benchmarks,
        metavar="ID|FILE",
        help="Benchmark by id or path (coding-easy).",
    ),
    click.option(
        "--tasks", type=click.Path(), metavar="FILE", help="A file of tasks instead of a benchmark."
    ),
    click.option(
        "--data", type=click.Path(), metavar="FILE", help="The public file of gaia-v1 or toolbench-lite."
    ),
    click.option(
        "--benchmarks-dir",
        cls=Many,
        type=click.Path(),
        metavar="DIR...",
        help="Further folders to look for benchmarks in.",
    ),
    click.option("--repeats", "--runs", "runs", type=int, metavar="N", help="Repeats of each task (1)."),
    click.option("--concurrency", type=int, metavar="N", help="Trials at once (4)."),
    click.option(
        "--timeout", type=float, metavar="MS", help="Limit of a trial in ms; a task's own wins (30000)."
    ),
    click.option("--retries", type=int, metavar="N", help="Further tries after a failed call (0)."),
    click.option("--evaluator", metavar="KIND", help="Scorer for tasks that name none (exact)."),
    click.option(
        "--format",
        "formats",
        shell_complete=completion.formats,
        cls=Many,
        type=FormatName(),
        metavar="NAME...",
        help=f"{REPORT_FORMATS} (json markdown).",
    ),
    click.option(
        "--output-dir",
        type=click.Path(),
        metavar="DIR",
        help="Where <run_id>/ with tables and reports goes, also s3://BUCKET/PREFIX (outputs/<name>).",
    ),
    click.option(
        "--store", type=click.Path(), metavar="DIR", help="Where the tables go instead, as <run_id>/."
    ),
)


def evaluating_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that every evaluating command has."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


_SETTINGS = {
    "benchmark": "benchmark.name",
    "tasks": "benchmark.tasks",
    "data": "benchmark.data",
    "concurrency": "runner.concurrency",
    "timeout": "runner.timeout_ms",
    "retries": "runner.retries",
    "runs": "runner.repeats",
    "evaluator": "scorers.task.fallback",
    "output_dir": "paths.output_dir",
    "store": "paths.store",
}
"""Option → the setting it is short for."""


def option_overrides(options: Mapping[str, Any]) -> Iterator[str]:
    """Turn the options that evaluating commands share into overrides, so that both are one mechanism."""
    from skilleval.config.compose import quote

    for name, key in _SETTINGS.items():
        if options.get(name) is not None:
            yield f"{key}={quote(options[name])}"
    if options["formats"]:
        yield f"report.formats={quote(list(options['formats']))}"
    if options["benchmarks_dir"]:
        yield f"benchmark.roots={_roots(options['benchmarks_dir'])}"


def _roots(folders: Sequence[str]) -> str:
    """Put further folders before those that are searched anyway."""
    from skilleval.config.compose import quote

    for folder in folders:
        if not Path(folder).is_dir():
            problem = Problem(where="--benchmarks-dir", expected="a folder with benchmarks", found=folder)
            raise UsageError("there is no such folder", problems=(problem,))
    return f"[{','.join(quote(folder) for folder in folders)},benchmarks,${{paths.shipped_benchmarks}}]"


def get_ready(common: Common, request: Request, *, stored: StoredRun | None = None) -> Prepared:
    """Compose, read and check everything; say what a user must know before the first trial."""
    from skilleval.app.prepare import check_model, prepare

    with _told_from_where(stored):
        composed = _composed(common, request, stored)
        check_model(composed.settings)
        prepared = prepare(
            composed, is_to_run=not request.plan_only, builds=not (request.dry_run or request.plan_only)
        )
    for warning in prepared.warnings:
        log.warning("%s", warning)
    for notice in prepared.notices:
        log.info("%s", notice)
    return prepared


def _composed(common: Common, request: Request, stored: StoredRun | None) -> Composed:
    from skilleval.app.resume import compose_again
    from skilleval.config.compose import compose_settings

    if stored is not None:
        return compose_again(stored, request.overrides, project=Path.cwd(), config_dirs=request.config_dirs)
    return compose_settings(
        request.overrides,
        project=Path.cwd(),
        config_file=common.config_file,
        config_dirs=request.config_dirs,
    )


@contextmanager
def _told_from_where(stored: StoredRun | None) -> Iterator[None]:
    """Remind of the folder in which a run was started: its relative paths begin there."""
    try:
        yield
    except SkillevalError as error:
        started_in = None if stored is None else stored.manifest.get("folder")
        if not error.hint and started_in not in {None, str(Path.cwd())}:
            error.hint = f"the run was started in {started_in}, where its relative paths begin"
        raise


@contextmanager
def stored_run(request: Request) -> Iterator[StoredRun | None]:
    """Give the run that is to be gone on with; unless nothing is to be written it is ours until the end."""
    from skilleval.app.resume import find_stored

    if request.resume is None:
        yield None
        return
    found = find_stored(request.resume, request.root, to_write=not request.dry_run)
    with found.lock or nullcontext():
        yield found


def carry_out(  # noqa: PLR0913 - keywords: each says something else about the one run
    screen: Screen,
    prepared: Prepared,
    *,
    command: Sequence[str] | None = None,
    stored: StoredRun | None = None,
    log_options: LogOptions | None = None,
    opened: Callable[[OpenRun], None] | None = None,
) -> Outcome:
    """Run what is ready, watched as the options say; of a stored run only what it lacks.

    `opened` is told of the run as soon as it is there, before its first trial.
    """
    from skilleval.app.evaluate import carry_on
    from skilleval.app.opening import open_run
    from skilleval.cli.watching import LogOptions, watching
    from skilleval.clock import Clock

    line = sys.argv[1:] if command is None else command
    with open_run(prepared, command=line, clock=Clock(), stored=stored) as run:
        options = log_options or LogOptions()
        if opened is not None:
            opened(run)
        if run.remark and options.shows_progress:
            click.echo(run.remark, err=True)
        with watching(options, screen, prepared, run) as watchers:
            outcome = carry_on(prepared, run, observe=watchers)
            watchers.end(outcome)
            return outcome


def next_step(outcome: Outcome) -> str | None:
    """Say how to get the report to look at, where it was not made."""
    if "html" in outcome.reports:
        return None
    return f"skilleval report convert --input {outcome.address or outcome.folder} --format html"


def tell_paths(common: Common, outcome: Outcome, step: str | None = None) -> None:
    """Say where everything is that a run wrote, and what to do next."""
    sent = [("sent", outcome.address)] if outcome.address else []
    lines = [*sent, *outcome.paths(), *([("next", step)] if step else [])]
    width = max(len(label) for label, _ in lines) + 2
    for label, what in lines:
        common.screen.say(f"{label.capitalize() + ':':{width}}{what}")
