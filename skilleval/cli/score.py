"""`skilleval score`: score stored attempts again; no skill is called."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options, overrides_and_words
from skilleval.cli.formats import REPORT_FORMATS
from skilleval.cli.running import tell_paths
from skilleval.errors import UsageError
from skilleval.outcome import first_of

if TYPE_CHECKING:
    from skilleval.app.evaluate import Outcome
    from skilleval.app.scoring import Scoring

log = logging.getLogger(__name__)

_EXAMPLE = """
skilleval score latest 'scorer=[exact,contains]'
skilleval score 20261101T080000Z-1a2b3c scorers.exact.tolerance=0.01 --format html
skilleval score latest --allow-changed-benchmark
"""
_SETTINGS = {"min_completion": "gate.min_completion", "output_dir": "paths.output_dir"}
_FLAGS = {"exit_on_fail": "gate.exit_on_fail", "fail_on_error": "gate.fail_on_error"}


@click.command("score", cls=Command, example=_EXAMPLE, short_help="Score stored attempts again.")
@click.argument(
    "words", nargs=-1, required=True, metavar="RUN... [KEY=VALUE]...", shell_complete=completion.stored_runs
)
@click.option("--min-completion", type=float, metavar="RATE", help="Completion to reach, 0-1 (as the run).")
@click.option("--exit-on-fail", is_flag=True, help="Exit 1 if a skill stays below --min-completion.")
@click.option("--fail-on-error", is_flag=True, help="Exit 3 also if a skill erred or timed out.")
@click.option(
    "--format",
    "formats",
    shell_complete=completion.formats,
    cls=Many,
    metavar="NAME...",
    help=f"{REPORT_FORMATS} (as the run).",
)
@click.option(
    "--output-dir", type=click.Path(), metavar="DIR", help="Where the new <run_id>/ goes (beside the run)."
)
@click.option(
    "--store",
    type=click.Path(),
    metavar="DIR",
    default="outputs",
    show_default=True,
    help="Where run ids and `latest` are looked up.",
)
@click.option(
    "--allow-changed-benchmark",
    is_flag=True,
    help="Score by what the benchmark expects now; tasks with another input are left out.",
)
@click.option("--dry-run", is_flag=True, help="Check everything and count; score and write nothing.")
@common_options
def score(common: Common, **options: Any) -> None:
    """Score the attempts of stored runs again, each as a new run beside the old one; no skill is called.

    Settings are those of the run; KEY=VALUE overrides change scorers, analysis, gate and report. Skills may be gone.
    Exit codes are those of eval.
    """
    overrides, references = overrides_and_words(options["words"])
    if not references:
        raise UsageError("no run is named", hint="give a run folder, a run id, or `latest`")
    if common.config_file is not None:
        raise UsageError(
            "settings files have no say here", hint="settings are those of the run; use KEY=VALUE"
        )
    overrides = [*_option_overrides(options), *overrides]
    ready = [_ready(reference, overrides, options) for reference in references]
    if options["dry_run"]:
        _show_dry_run(common, ready)
        return
    outcomes = [_scored(common, scoring) for scoring in ready]
    code = first_of(outcome.exit_code for outcome in outcomes)
    _document(common, outcomes, int(code))
    for outcome in outcomes:
        _show(common, outcome)
    click.get_current_context().exit(int(code))


def _option_overrides(options: Mapping[str, Any]) -> Iterator[str]:
    from skilleval.config.compose import quote

    for name, key in _SETTINGS.items():
        if options[name] is not None:
            yield f"{key}={quote(options[name])}"
    for name, key in _FLAGS.items():
        if options[name]:
            yield f"{key}=true"
    if options["formats"]:
        yield f"report.formats={quote(list(options['formats']))}"


def _ready(reference: str, overrides: Sequence[str], options: Mapping[str, Any]) -> Scoring:
    from skilleval.app.scoring import prepare_scoring

    scoring = prepare_scoring(
        reference,
        overrides,
        store=Path(options["store"]),
        project=Path.cwd(),
        allow_changed_benchmark=options["allow_changed_benchmark"],
    )
    for warning in scoring.prepared.warnings:
        log.warning("%s", warning)
    for notice in scoring.prepared.notices:
        log.info("%s", notice)
    return scoring


def _scored(common: Common, scoring: Scoring) -> Outcome:
    from skilleval.app.evaluate import evaluate
    from skilleval.cli.console import progress

    prepared = scoring.prepared
    with progress(common.screen, title="scoring", total=len(prepared.trials)) as observe:
        return evaluate(prepared, observe=observe, command=sys.argv[1:], past=scoring.past)


def _document(common: Common, outcomes: Sequence[Outcome], code: int) -> None:
    """Print the document of one run as `eval` does, of several as a sweep does."""
    documents = [outcome.facts() for outcome in outcomes]
    common.screen.document(documents[0] if len(documents) == 1 else {"exit_code": code, "runs": documents})


def _show(common: Common, outcome: Outcome) -> None:
    from skilleval.report.terminal import table

    if common.screen.json:
        return
    common.screen.show(table(outcome.report, width=common.screen.width))
    common.screen.say("")
    tell_paths(common, outcome)


def _show_dry_run(common: Common, ready: Sequence[Scoring]) -> None:
    facts: list[dict[str, Any]] = [
        {
            "run_dir": str(scoring.source),
            "benchmark": f"{scoring.prepared.benchmark.id}@{scoring.prepared.benchmark.version}",
            "scorers": sorted(scoring.prepared.scorers),
            "n_trials": len(scoring.prepared.trials),
            "output_dir": scoring.prepared.settings.paths.output_dir,
            "warnings": list(scoring.prepared.warnings),
        }
        for scoring in ready
    ]
    common.screen.document({"dry_run": True, "runs": facts})
    for one in facts:
        common.screen.say(
            f"run:        {one['run_dir']}\n"
            f"benchmark:  {one['benchmark']}\n"
            f"scorers:    {', '.join(one['scorers'])}\n"
            f"attempts:   {one['n_trials']}\n"
            f"would go to {one['output_dir']}"
        )
    common.screen.say("Everything is valid; nothing was scored and nothing was written.")
