"""`skilleval merge`: join the shards of a plan, or runs with the same settings, into one run."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options, overrides_and_words
from skilleval.cli.formats import REPORT_FORMATS
from skilleval.cli.running import next_step, tell_paths
from skilleval.errors import UsageError

if TYPE_CHECKING:
    from skilleval.app.evaluate import Outcome
    from skilleval.app.merging import Merging

log = logging.getLogger(__name__)

_EXAMPLE = """
skilleval eval -m ./skills plan.shards=8 'plan.shard=range(8)' hydra/launcher=joblib_local
skilleval merge 20261130T212810Z-a41d5c --format html
skilleval merge outputs/default --exit-on-fail
skilleval merge outputs/a/20261130T212810Z-1a2b3c outputs/b/20261130T212912Z-4d5e6f --output-dir outputs/ab
"""


@click.command("merge", cls=Command, example=_EXAMPLE, short_help="Join shards or runs into one run.")
@click.argument(
    "words",
    nargs=-1,
    required=True,
    metavar="RUN|SWEEP|FOLDER... [KEY=VALUE]...",
    shell_complete=completion.stored_runs,
)
@click.option(
    "--output-dir",
    type=click.Path(),
    metavar="DIR",
    help="Where the new <run_id>/ goes (beside the first run).",
)
@click.option("--allow-missing", is_flag=True, help="Join what is there; the result counts as interrupted.")
@click.option("--min-completion", type=float, metavar="RATE", help="Completion to reach, 0-1 (as the runs).")
@click.option("--exit-on-fail", is_flag=True, help="Exit 1 if a skill stays below --min-completion.")
@click.option(
    "--format",
    "formats",
    shell_complete=completion.formats,
    cls=Many,
    metavar="NAME...",
    help=f"{REPORT_FORMATS} (as the first run).",
)
@click.option(
    "--store",
    type=click.Path(),
    metavar="DIR",
    default="outputs",
    show_default=True,
    help="Where ids of runs and sweeps are looked up.",
)
@click.option("--dry-run", is_flag=True, help="Check everything and count; write nothing.")
@common_options
def merge(common: Common, **options: Any) -> None:
    """Join the shards of one plan, or runs with the same settings, into a new run; no skill is called.

    Of a SWEEP the runs of all its jobs are joined, of a FOLDER the shards in it, or else its runs. Runs that have a
    trial in common, that differ in a setting, or that are not complete are refused. KEY=VALUE changes gate, report and
    analysis. Exit codes are those of eval: the gate that single shards leave open is decided here.
    """
    from skilleval.app.merging import merge as join
    from skilleval.app.merging import prepare_merging
    from skilleval.clock import Clock

    overrides, references = overrides_and_words(options["words"])
    if not references:
        raise UsageError("no run is named", hint="give runs, a sweep, or a folder that holds shards")
    if common.config_file is not None:
        raise UsageError("settings files have no say here", hint="settings are those of the runs")
    merging = prepare_merging(
        references,
        [*_overrides(options), *overrides],
        store=options["store"],
        output_dir=options["output_dir"],
        allow_missing=options["allow_missing"],
    )
    for gap in merging.gaps:
        log.warning("missing: %s: %s", gap.where, gap.what)
    if options["dry_run"]:
        _show_dry_run(common, merging)
        return
    outcome = join(merging, command=sys.argv[1:], now=Clock().utc())
    _show(common, outcome, merging)
    click.get_current_context().exit(int(outcome.exit_code))


def _overrides(options: Mapping[str, Any]) -> Iterator[str]:
    from skilleval.config.compose import quote

    if options["min_completion"] is not None:
        yield f"gate.min_completion={quote(options['min_completion'])}"
    if options["exit_on_fail"]:
        yield "gate.exit_on_fail=true"
    if options["formats"]:
        yield f"report.formats={quote(list(options['formats']))}"


def _show(common: Common, outcome: Outcome, merging: Merging) -> None:
    from skilleval.report.terminal import table

    common.screen.document({**outcome.facts(), "merged_from": merging.facts()["runs"]})
    if common.screen.json:
        return
    common.screen.show(table(outcome.report, width=common.screen.width))
    common.screen.say("")
    tell_paths(common, outcome, next_step(outcome))


def _show_dry_run(common: Common, merging: Merging) -> None:
    facts = merging.facts()
    common.screen.document({"dry_run": True, **facts})
    for place in facts["runs"]:
        common.screen.say(f"run:        {place}")
    common.screen.say(
        f"trials:     {facts['n_planned']:,} planned\n"
        f"would go to {facts['output_dir']}\n"
        "These runs can be joined; nothing was written."
    )
