"""`skilleval eval`: run skills on a benchmark, keep every row, report."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options, overrides_and_words
from skilleval.cli.dry_run import dry_run_text
from skilleval.cli.instruction import (
    instruction_options,
    instruction_overrides,
    is_peer_config,
    peer_overrides,
)
from skilleval.cli.planning import check_plan_only, format_of_plan, show_plan
from skilleval.cli.request import Request
from skilleval.cli.running import (
    carry_out,
    evaluating_options,
    get_ready,
    next_step,
    option_overrides,
    stored_run,
    tell_paths,
)
from skilleval.cli.watching import PRETTY, SILENT, LogOptions, configure_logging, logging_options
from skilleval.errors import UsageError

if TYPE_CHECKING:
    from skilleval.app.evaluate import Outcome
    from skilleval.app.prepare import Prepared
    from skilleval.app.resume import StoredRun

log = logging.getLogger(__name__)

_EXAMPLE = """
skilleval eval --skills ./my-skill --benchmark coding-easy --runs 3 --format json html
skilleval eval --skills a/skill.json b/skill.json scorer=contains runner.concurrency=2
skilleval eval -m --skills ./my-skill scorer=exact,contains
skilleval eval ./skills --target gpt-4o-mini --judge gpt-4o --baseline --runs 3
skilleval eval --resume latest runner.concurrency=2
skilleval eval ./skills plan.shards=8 --plan-only --format csv
"""

_FLAGS = {
    "exit_on_fail": "gate.exit_on_fail",
    "fail_on_error": "gate.fail_on_error",
    "skip_invalid": "skill_set.skip_invalid",
}


@click.command("eval", cls=Command, example=_EXAMPLE, short_help="Run skills on a benchmark and report.")
@click.argument("words", shell_complete=completion.words, nargs=-1, metavar="[SKILL]... [KEY=VALUE]...")
@click.option(
    "--skills",
    cls=Many,
    type=click.Path(),
    metavar="PATH...",
    help="skill.json files or folders that hold them.",
)
@click.option("--min-completion", type=float, metavar="RATE", help="Completion to reach, 0-1 (0.7).")
@click.option("--exit-on-fail", is_flag=True, help="Exit 1 if a skill stays below --min-completion.")
@click.option("--fail-on-error", is_flag=True, help="Exit 3 also if a skill errors or times out.")
@click.option(
    "--skip-invalid", is_flag=True, help="Leave out skills that cannot be read instead of stopping."
)
@click.option("--dry-run", is_flag=True, help="Check everything, count, estimate; run and write nothing.")
@click.option(
    "--plan-only",
    is_flag=True,
    help="Print the plan and its hash, equal on every machine, and stop; --format csv or --json list its trials.",
)
@click.option(
    "--resume",
    shell_complete=completion.stored_runs,
    metavar="RUN",
    help="Go on with a stored run: a folder, a run id or part of one, or `latest`.",
)
@click.option("-m", "--multirun", is_flag=True, help="Sweep over comma-separated overrides with Hydra.")
@click.option("--cfg", type=click.Choice(["job", "hydra", "all"]), help="Print the composed config and stop.")
@click.option("--info", is_flag=True, help="Print what Hydra composed from where, and stop.")
@click.option(
    "--config-dir", type=click.Path(), metavar="DIR", help="A further config folder, searched first."
)
@instruction_options
@evaluating_options
@logging_options
@common_options
def eval_(common: Common, **options: Any) -> None:
    """Run every skill on every task, keep every row, and report.

    Skills may be named with --skills or as arguments. Any KEY=VALUE is a Hydra override; it wins over project file
    (skilleval.yaml), user file and defaults. --resume takes the settings from the run itself, and runs only what is
    missing or failed for infrastructure reasons; --store or --output-dir say where to look for it (outputs).

    Instruction skills (SKILL.md) are given to the model that --target names, each on its own evals; with --baseline the
    model is asked without them as well. -c takes an agent-skills-eval.yaml too.

    Exit codes: 0 ok, 1 gate not met, 2 bad usage or config, 3 infrastructure error (a judge that failed is one) or
    every trial errored, 4 nothing evaluated, 5 budget spent before the end, 130 interrupted.
    """
    overrides, words = overrides_and_words(options["words"])
    root = _root(options)
    options = _without_places(options) if options["resume"] else options
    log_options = _log_options(options)
    theirs: list[str] = []
    if is_peer_config(common.config_file):
        common, theirs, log_options = _from_peer(common, overrides, log_options)
    configure_logging(log_options)
    plan_format = format_of_plan(options)
    if options["plan_only"]:
        options = {**options, "formats": ()}
    given = _option_overrides(options, [*options["skills"], *words], overrides)
    shorthand = list(given)
    request = Request(
        overrides=(*theirs, *shorthand, *overrides),
        config_dirs=(Path(options["config_dir"]),) if options["config_dir"] else (),
        dry_run=options["dry_run"],
        plan_only=options["plan_only"],
        plan_format=plan_format,
        multirun=options["multirun"],
        cfg=options["cfg"],
        info=options["info"],
        resume=options["resume"],
        root=root,
        log=log_options,
    )
    _check_resume(common, request)
    check_plan_only(request)
    evaluate(common, request)


def _root(options: Mapping[str, Any]) -> Path:
    """Give the folder in which a run to go on with is looked up."""
    return Path(options["store"] or options["output_dir"] or "outputs")


def _without_places(options: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out where results go: a run that is gone on with stays where it is."""
    return {**options, "store": None, "output_dir": None}


def _check_resume(common: Common, request: Request) -> None:
    """Refuse what has no meaning for a run that is there already."""
    unfit = {
        "--multirun": request.multirun,
        "--cfg": request.cfg,
        "--info": request.info,
        "--config": common.config_file,
    }
    given = [name for name, value in unfit.items() if value]
    if request.resume is not None and given:
        msg = f"--resume goes on with one run as it was composed; it does not go with {given[0]}"
        raise UsageError(msg, hint="of a sweep, all that is unfinished: skilleval sweep resume SWEEP")


def evaluate(common: Common, request: Request) -> None:
    """Compose and run, once or as a sweep."""
    if request.multirun or request.cfg or request.info:
        from skilleval.cli.sweeping import hand_to_hydra

        hand_to_hydra(common, request)
    else:
        _run_once(common, request)


def _log_options(options: Mapping[str, Any]) -> LogOptions:
    file = Path(options["log_file"]) if options["log_file"] else None
    return LogOptions(format=options["log_format"], file=file, quiet=options["quiet"])


def _from_peer(
    common: Common, overrides: Sequence[str], log_options: LogOptions
) -> tuple[Common, list[str], LogOptions]:
    """Take over a config of agent-skills-eval: its settings, and how it logs where the command line does not say."""
    from skilleval.catalog.peer_config import read_peer_config

    assert common.config_file is not None
    config = read_peer_config(common.config_file)
    for notice in config.notices:
        log.warning("%s", notice)
    kept = replace(common, config_file=None)
    settings = list(peer_overrides(config, overrides))
    return kept, settings, log_options if log_options != LogOptions() else _peer_log(config.logging)


def _peer_log(said: Mapping[str, Any]) -> LogOptions:
    file = said.get("log_file")
    return LogOptions(format=said.get("log_format", PRETTY), file=Path(file) if file else None)


def _option_overrides(
    options: Mapping[str, Any], skills: Sequence[str], overrides: Sequence[str]
) -> Iterator[str]:
    """Turn all options into overrides; `overrides` are those that the user wrote."""
    from skilleval.config.compose import quote

    yield from instruction_overrides(options, overrides)
    if skills:
        yield f"skill_set.paths={quote(list(skills))}"
    if options["min_completion"] is not None:
        yield f"gate.min_completion={quote(options['min_completion'])}"
    for name, key in _FLAGS.items():
        if options[name]:
            yield f"{key}=true"
    yield from option_overrides(options)


def _run_once(common: Common, request: Request) -> None:
    with stored_run(request) as stored:
        prepared = get_ready(common, request, stored=stored)
        if request.plan_only:
            show_plan(common.screen, prepared, as_csv=request.plan_format is not None)
            return
        if request.dry_run:
            _show_dry_run(common, prepared, stored)
            return
        outcome = carry_out(common.screen, prepared, stored=stored, log_options=request.log)
    if request.log.format != SILENT:
        _show(common, outcome, request.next_step)
    click.get_current_context().exit(int(outcome.exit_code))


def _show_dry_run(common: Common, prepared: Prepared, stored: StoredRun | None) -> None:
    from skilleval.app.opening import results_root
    from skilleval.app.resume import check_plan, left_of, unfinished

    facts = prepared.facts()
    if stored is not None:
        check_plan(prepared, stored)
    elif prepared.settings.runner.resume:
        stored = unfinished(prepared, results_root(prepared), to_write=False)
    if stored is not None:
        left = left_of(prepared, stored)
        facts |= {"resume": str(stored.folder), "n_to_run": len(left.pending), **left.facts()}
        common.screen.say(f"resume:     {stored.folder}: {left}")
    common.screen.document({"dry_run": True, **facts})
    common.screen.say(dry_run_text(prepared, facts))


def _show(common: Common, outcome: Outcome, step: str | None) -> None:
    """Show table, verdict and the paths of everything that was written."""
    from skilleval.report.terminal import table

    common.screen.document(outcome.facts())
    if common.screen.json:
        return
    common.screen.show(table(outcome.report, width=common.screen.width))
    common.screen.say("")
    tell_paths(common, outcome, step or next_step(outcome))
