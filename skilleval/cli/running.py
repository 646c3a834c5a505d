"""What every command that evaluates shares: options as overrides, getting ready, running with progress."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Common, Many
from skilleval.cli.request import Request
from skilleval.errors import Problem, UsageError

if TYPE_CHECKING:
    from skilleval.app.evaluate import Outcome
    from skilleval.app.prepare import Prepared

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
    click.option("--runs", type=int, metavar="N", help="Repeats of each task (1)."),
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
        metavar="NAME...",
        help="Reports: json markdown html csv (json markdown).",
    ),
    click.option(
        "--output-dir",
        type=click.Path(),
        metavar="DIR",
        help="Where <run_id>/ with tables and reports goes (outputs/<name>).",
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


def get_ready(common: Common, request: Request) -> Prepared:
    """Compose, read and check everything; say what a user must know before the first trial."""
    from skilleval.app.prepare import prepare
    from skilleval.config.compose import compose_settings

    composed = compose_settings(
        request.overrides,
        project=Path.cwd(),
        config_file=common.config_file,
        config_dirs=request.config_dirs,
    )
    prepared = prepare(composed)
    for warning in prepared.warnings:
        log.warning("%s", warning)
    for notice in prepared.notices:
        log.info("%s", notice)
    return prepared


def carry_out(common: Common, prepared: Prepared) -> Outcome:
    """Run what is ready, with progress on stderr."""
    from skilleval.app.evaluate import evaluate
    from skilleval.cli.console import progress

    with progress(common.screen, title="evaluating", total=len(prepared.trials)) as observe:
        return evaluate(prepared, observe=observe, command=sys.argv[1:])


def tell_paths(common: Common, outcome: Outcome, next_step: str | None = None) -> None:
    """Say where everything is that a run wrote, and what to do next."""
    lines = [*outcome.paths(), *([("next", next_step)] if next_step else [])]
    width = max(len(label) for label, _ in lines) + 2
    for label, what in lines:
        common.screen.say(f"{label.capitalize() + ':':{width}}{what}")
