"""The command line: commands, options, logging, exit codes. It starts fast because it imports late."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import click

from skilleval import __version__
from skilleval.cli.arguments import common_options
from skilleval.cli.benchmark import benchmark
from skilleval.cli.cache import cache
from skilleval.cli.configuration import config
from skilleval.cli.console import Screen, hear_no_more, occupy_closed_streams
from skilleval.cli.create import create
from skilleval.cli.demo import demo
from skilleval.cli.diff import diff
from skilleval.cli.doctor import doctor
from skilleval.cli.evaluation import eval_
from skilleval.cli.find import find
from skilleval.cli.gate import gate
from skilleval.cli.history import history
from skilleval.cli.import_ import import_
from skilleval.cli.init import init
from skilleval.cli.items import items
from skilleval.cli.merge import merge
from skilleval.cli.paper import paper
from skilleval.cli.power import power
from skilleval.cli.push import push
from skilleval.cli.report import report
from skilleval.cli.run import run_
from skilleval.cli.sandbox import sandbox
from skilleval.cli.schema import schema
from skilleval.cli.score import score
from skilleval.cli.select import select
from skilleval.cli.slices import slices
from skilleval.cli.sweep import sweep
from skilleval.cli.task import task
from skilleval.cli.verify import verify
from skilleval.errors import SkillevalError
from skilleval.outcome import ExitCode

_HELP = """Measure agent skills: run every skill on every task, keep every result, say what the numbers are worth.

\b
First steps:
  skilleval demo                 evaluate the shipped example skills
  skilleval eval --help          evaluate your own
"""


@click.group(help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="skilleval")
@common_options
def cli() -> None:
    """Collect the commands; the options given here hold for every command."""


for _command in (
    demo,
    doctor,
    init,
    create,
    find,
    eval_,
    select,
    run_,
    sweep,
    merge,
    task,
    score,
    push,
    report,
    diff,
    slices,
    history,
    items,
    power,
    paper,
    verify,
    gate,
    import_,
    cache,
    sandbox,
    benchmark,
    schema,
    config,
):
    cli.add_command(_command)


def main() -> None:
    """Run the command line and exit with a documented code."""
    occupy_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character gets a sign for it
            stream.reconfigure(errors="replace")
    code = run(sys.argv[1:])
    hear_no_more()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; give its exit code.

    A mistake on the command line and an interruption are told in the way that was asked for, also with `--json`.
    """
    screen = Screen(json="--json" in arguments)
    try:
        code = cli.main(list(arguments), standalone_mode=False)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        screen.document({"error": error.format_message(), "exit_code": int(ExitCode.USAGE)})
        error.show()
        code = ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort):
        hear_no_more()
        screen.document({"error": "interrupted", "exit_code": int(ExitCode.INTERRUPTED)})
        click.echo("interrupted", err=True)
        code = ExitCode.INTERRUPTED
    except SkillevalError as error:
        screen.error(error)
        code = error.exit_code
    return int(code or ExitCode.OK)
