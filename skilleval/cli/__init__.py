"""The command line: commands, options, logging, exit codes. It starts fast because it imports late."""

from __future__ import annotations

import os
import sys

import click

from skilleval import __version__
from skilleval.cli.arguments import common_options
from skilleval.cli.configuration import config
from skilleval.cli.demo import demo
from skilleval.cli.evaluation import eval_
from skilleval.cli.report import report
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


for _command in (demo, eval_, config, report):
    cli.add_command(_command)


def main() -> None:
    """Run the command line and exit with a documented code; no traceback reaches a user."""
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = ExitCode.USAGE
    except SkillevalError as error:
        click.echo(f"error: {error}", err=True)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        code = _closed_pipe()
    sys.exit(int(code or 0))


def _closed_pipe() -> int:
    """End quietly when the reader of our stdout has gone, e.g. `skilleval … | head`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.OK
