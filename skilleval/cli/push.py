"""`skilleval push`: send runs to an object store."""

from __future__ import annotations

from pathlib import Path

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, common_options

_EXAMPLE = """
skilleval push --store s3://results/study
skilleval push latest --store s3://results/study
skilleval push 20261101T080000Z-1a2b3c --to s3://results/study
"""


@click.command("push", cls=Command, example=_EXAMPLE, short_help="Send runs to an object store.")
@click.argument("references", nargs=-1, metavar="[RUN]...", shell_complete=completion.stored_runs)
@click.option(
    "--to", metavar="ADDRESS", help="Copy to s3://BUCKET/PREFIX; without it, where the run belongs."
)
@click.option(
    "--store",
    type=click.Path(),
    metavar="DIR|ADDRESS",
    default="outputs",
    show_default=True,
    help="Where run ids and `latest` are looked up.",
)
@common_options
def push(common: Common, *, references: tuple[str, ...], to: str | None, store: str) -> None:
    """Send stored runs to an object store (s3://), or complete what was cut off.

    A run whose output_dir is an address is sent when it ends. Where that failed, or the machine was stopped, this does
    it: without RUN for all runs of --store that were not sent. With --to, runs of a folder are copied. What is there
    already is not sent again; nothing is overwritten.
    """
    from skilleval.app.pushing import push as pushed

    done = []
    for one in pushed(references, store=Path(store), to=to):
        common.screen.say(f"{one.address}: {one.n_objects} objects sent")
        done.append({"run_dir": str(one.folder), "address": one.address, "n_objects": one.n_objects})
    common.screen.document({"runs": done})
    if not done:
        common.screen.say("nothing is left to send")
