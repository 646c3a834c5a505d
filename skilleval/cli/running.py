"""What every command that evaluates shares: options as overrides, getting ready, running with progress."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilleval.cli.arguments import Common
from skilleval.cli.request import Request
from skilleval.errors import Problem, UsageError

if TYPE_CHECKING:
    from skilleval.app.evaluate import Outcome
    from skilleval.app.prepare import Prepared

log = logging.getLogger(__name__)

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
