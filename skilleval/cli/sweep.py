"""`skilleval sweep`: how far a sweep is, and going on with one that was stopped."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli.arguments import Command, Common, common_options, overrides_and_words
from skilleval.cli.listing import show_rows
from skilleval.cli.sweep_end import tell_next, totals
from skilleval.cli.sweep_report import report
from skilleval.cli.watching import LogOptions, configure_logging, logging_options
from skilleval.errors import ResultsError, UsageError

if TYPE_CHECKING:
    from skilleval.results.sweeps import Sweep

_HEADINGS = ("job", "state", "settings", "trials", "exit", "verdict or reason")
_LAUNCHING = ("hydra/launcher", "hydra.launcher")

_STATUS_EXAMPLE = """
skilleval sweep status
skilleval sweep status 20261130T212810Z-a41d5c --json
"""
_RESUME_EXAMPLE = """
skilleval sweep resume latest
skilleval sweep resume outputs/default/20261130T212810Z-a41d5c hydra/launcher=joblib_local
"""

_store = click.option(
    "--store",
    type=click.Path(),
    metavar="DIR",
    default="outputs",
    show_default=True,
    help="Where sweep ids and `latest` are looked up.",
)


@click.group("sweep", short_help="See how far a sweep is; go on with it.")
@common_options
def sweep() -> None:
    """Look after sweeps, which `skilleval eval -m` starts: one job for each combination of settings."""


sweep.add_command(report)


@sweep.command("status", cls=Command, example=_STATUS_EXAMPLE, short_help="Show the jobs of a sweep.")
@click.argument("reference", default="latest", metavar="[SWEEP]")
@_store
@common_options
def status(common: Common, reference: str, store: str) -> None:
    """Show each job of a sweep: how far it is, what it came to, why it failed; and what to do next.

    SWEEP is a folder, an id, part of an id, or `latest`. Exits 0 whatever the jobs came to.
    """
    from skilleval.app.sweep_status import sweep_status
    from skilleval.results.places import shown_place
    from skilleval.results.sweeps import find_sweep

    facts = sweep_status(find_sweep(reference, Path(store)))
    common.screen.document(facts)
    common.screen.say(f"sweep {facts['sweep_id']} in {shown_place(facts['sweep_dir'])}")
    show_rows(common.screen, _HEADINGS, [_cells(job) for job in facts["jobs"]])
    common.screen.say("")
    common.screen.say(totals(facts))
    tell_next(common.screen, facts)


def _cells(job: Mapping[str, Any]) -> list[str]:
    from skilleval.report.text import joined_lines

    settings = " ".join(f"{key}={value}" for key, value in job["settings"].items())
    done = "–" if job["n_trials"] is None else str(job["n_trials"])
    planned = "–" if job["n_planned"] is None else str(job["n_planned"])
    code = "–" if job["exit_code"] is None else str(job["exit_code"])
    return [
        str(job["job"]),
        job["state"],
        settings or "–",
        f"{done}/{planned}",
        code,
        joined_lines(job["error"] or job["verdict"] or "–"),
    ]


@sweep.command("resume", cls=Command, example=_RESUME_EXAMPLE, short_help="Run what a sweep lacks.")
@click.argument("words", nargs=-1, metavar="[SWEEP] [hydra/launcher=NAME]...")
@_store
@logging_options
@common_options
def resume(common: Common, words: Sequence[str], store: str, **options: Any) -> None:
    """Go on with a sweep that was stopped, or of which jobs failed.

    Jobs that are done are not run again; one that was stopped goes on in its own run. Settings are those that the
    sweep was started with, so that only the launcher may be another one. It may be asked for from any folder.
    """
    from skilleval.results.sweeps import find_sweep, read_sweep

    overrides, references = overrides_and_words(words)
    _check(common, overrides, references)
    found = read_sweep(find_sweep(references[0] if references else "latest", Path(store)))
    if not found.request:
        raise ResultsError(f"{found.folder} does not say how it was started")
    _move(found)
    log = LogOptions(
        format=options["log_format"],
        file=Path(options["log_file"]) if options["log_file"] else None,
        quiet=options["quiet"],
    )
    configure_logging(log)
    _go_on(common, found, overrides, log)


def _go_on(common: Common, found: Sweep, overrides: Sequence[str], log: LogOptions) -> None:
    from skilleval.cli.sweeping import go_on
    from skilleval.config.compose import Again

    again = Again(sweep_id=found.sweep_id, folder=found.folder.absolute())
    kept = [text for text in found.request["argv"] if not _replaced(text, overrides)]
    go_on(common, again, {**found.request, "argv": [*kept, *overrides]}, log)


def _replaced(text: str, overrides: Sequence[str]) -> bool:
    """Say whether a launcher that is named now takes the place of what the sweep was started with."""
    return bool(overrides) and text.partition("=")[0].lstrip("+").startswith(_LAUNCHING)


def _check(common: Common, overrides: Sequence[str], references: Sequence[str]) -> None:
    unfit = [text for text in overrides if not text.lstrip("+").startswith(_LAUNCHING)]
    if unfit:
        msg = f"a sweep is gone on with as it was planned; it does not take {unfit[0]}"
        raise UsageError(msg, hint="only the launcher may be another one: hydra/launcher=NAME")
    if len(references) > 1:
        raise UsageError("one sweep at a time", hint=f"given: {', '.join(references)}")
    if common.config_file is not None:
        raise UsageError(
            "settings files have no say here", hint="a sweep keeps the ones that it was started with"
        )


def _move(found: Sweep) -> None:
    """Start over in the folder in which the sweep was started, unless we are there: its relative paths begin there.

    Raises:
        UsageError: there is no such folder.
    """
    if found.started_in.resolve() == Path.cwd().resolve():
        return
    if not found.started_in.is_dir():
        msg = f"the sweep was started in {found.started_in}, which is not there"
        raise UsageError(msg, hint="its relative paths begin there: go on where that folder is")
    arguments = _arguments(found)
    sys.stdout.flush()
    os.chdir(found.started_in)  # noqa: TID251 - this process ends here: another one takes its place
    os.execv(sys.executable, [sys.executable, "-m", "skilleval", *arguments])  # noqa: S606 - our own program


def _arguments(found: Sweep) -> list[str]:
    """Give the command line as it is, with the sweep as a whole path."""
    ctx = click.get_current_context()
    words = [word for word in ctx.params["words"] if "=" in word]
    given = {**ctx.ensure_object(dict), **ctx.params}
    flags = [f"--{name.replace('_', '-')}" for name in ("no_color", "verbose", "quiet") if given.get(name)]
    flags += ["--json"] if given.get("as_json") else []
    flags += ["--log-format", given["log_format"]]
    file = given["log_file"]
    flags += ["--log-file", str(Path(file).absolute())] if file else []
    return ["sweep", "resume", str(found.folder.absolute()), *words, *flags]
