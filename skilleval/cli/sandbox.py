"""`skilleval sandbox`: tidying up what sandboxes of dead evaluators left behind."""

from __future__ import annotations

from dataclasses import asdict

import click

from skilleval.cli.arguments import Command, Common, common_options

_PRUNE = """
skilleval sandbox prune
skilleval sandbox prune --dry-run
"""
_SHOWN = 12


@click.group(
    short_help="Tidy up what sandboxes left behind.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
def sandbox() -> None:
    """Look after what sandboxes hold on this machine beyond a run.

    Runs tidy up after themselves, also when they are interrupted. Only one that was killed by force cannot.
    """


@sandbox.command("prune", cls=Command, example=_PRUNE, short_help="Remove containers of dead evaluators.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@click.option(
    "--unknown",
    is_flag=True,
    help="Also those whose evaluator cannot be seen from here, e.g. in another container.",
)
@common_options
def prune(common: Common, *, dry_run: bool, unknown: bool) -> None:
    """Remove the Docker containers of evaluators that are dead. What belongs to a running one is not touched.

    The engine is the one that DOCKER_HOST names, else the usual one.
    """
    from skilleval.app.pruning import prune_sandboxes

    pruned = prune_sandboxes(even_unknown=unknown, dry_run=dry_run)
    common.screen.document(
        {
            "engine": pruned.engine,
            "dry_run": dry_run,
            "removed": [asdict(one) for one in pruned.removed],
            "kept": [asdict(one) for one in pruned.kept],
        }
    )
    for one in pruned.removed:
        common.screen.say(f"{one.container[:_SHOWN]}  of process {one.pid}")
    done = "would be removed" if dry_run else "removed"
    n_found = len(pruned.removed) + len(pruned.kept)
    common.screen.say(f"{len(pruned.removed)} of {n_found} containers {done}.")
