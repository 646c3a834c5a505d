"""`skilleval report serve`: a local page over all stored runs."""

from __future__ import annotations

from pathlib import Path

import click

from skilleval.cli.arguments import Command, Common, common_options
from skilleval.cli.find import STORE

PORT = 8722
_EXAMPLE = """
skilleval report serve
skilleval report serve outputs --port 0 --open
"""


@click.command("serve", cls=Command, example=_EXAMPLE, short_help="Show all stored runs in a browser.")
@click.argument("folder", metavar="[DIR]", type=click.Path(), default=STORE)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    metavar="N",
    help="The port to listen on; 0 takes any that is free.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="127.0.0.1 or ::1; no other machine is ever answered.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@common_options
def serve(common: Common, *, folder: str, port: int, host: str, opens: bool) -> None:
    """List all runs below a folder (outputs) on a page of this machine: search, filter, courses, reports, comparisons.

    Nothing is ever changed: runs may be written meanwhile, and show on the next reload. Ctrl-C ends it.
    """
    import webbrowser

    from skilleval.serving.server import listening

    served = listening(Path(folder), host=host, port=port)
    common.screen.document({"url": served.address, "port": served.port, "folder": folder})
    common.screen.say(served.address)
    click.echo(f"serving the runs in {folder}; Ctrl-C ends it", err=True)
    if opens and not webbrowser.open(served.address):
        click.echo("warning: no browser could be opened", err=True)
    try:
        served.run()
    except KeyboardInterrupt:  # the way to end it, so no mistake and no message
        return
