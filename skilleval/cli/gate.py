"""`skilleval gate`: hold a stored run against rules; what passed, what failed, and by how much."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, common_options, overrides_and_words
from skilleval.cli.listing import show_rows
from skilleval.errors import UsageError

if TYPE_CHECKING:
    from skilleval.app.ci import GateResult

_EXAMPLE = """
skilleval gate latest gate.min_completion=0.9
skilleval gate latest --rules gate.yaml --baseline previous
skilleval gate latest --baseline previous gate=no_regression --output-dir ci --annotate
"""
_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


@click.command("gate", cls=Command, example=_EXAMPLE, short_help="Hold a stored run against rules.")
@click.argument(
    "words", nargs=-1, required=True, metavar="RUN [KEY=VALUE]...", shell_complete=completion.stored_runs
)
@click.option(
    "--baseline",
    shell_complete=completion.stored_runs,
    metavar="RUN",
    help="What regressions are measured against: a run, a folder of runs, or `previous`.",
)
@click.option("--rules", type=click.Path(), metavar="FILE", help="Rules as YAML or JSON (those of the run).")
@click.option(
    "--output-dir",
    type=click.Path(),
    metavar="DIR",
    help="Write report.html, junit.xml and summary.md there.",
)
@click.option("--annotate", is_flag=True, help="Print annotations for GitHub Actions, a line each.")
@click.option(
    "--store",
    type=click.Path(),
    metavar="DIR",
    default="outputs",
    show_default=True,
    help="Where run ids, `latest` and `previous` are looked up.",
)
@common_options
def gate(common: Common, **options: Any) -> None:
    """Hold a stored run against the rules of a gate. Nothing is run.

    Rules are those of --rules, else those the run was composed with; gate=NAME and gate.KEY=VALUE change them. A run
    without rules is held against gate.min_completion. Where GitHub Actions asks for a summary of the step
    (GITHUB_STEP_SUMMARY), it gets one.

    Exit codes: 0 all rules are kept, 1 one is not, 2 bad usage or config, 4 nothing was evaluated.
    """
    from skilleval.app.ci import files_of, gate_run, write_ci
    from skilleval.report.github import workflow_commands

    reference, overrides = _parted(options["words"], has_rules=options["rules"] is not None)
    store = Path(options["store"])
    result = gate_run(
        reference,
        store=store,
        baseline=options["baseline"],
        rules=Path(options["rules"]) if options["rules"] else None,
        overrides=overrides,
        project=Path.cwd(),
    )
    folder = options["output_dir"]
    written = write_ci(result, Path(folder), store=store) if folder else {}
    _append_step_summary(result)
    lines = (
        workflow_commands(result.report, files_of(result.report, Path.cwd())) if options["annotate"] else []
    )
    paths = {name: str(path) for name, path in written.items()}
    common.screen.document({**result.facts(), "files": paths, "annotations": lines})
    for line in lines:
        common.screen.say(line)
    show_checks(common, result)
    for path in written.values():
        common.screen.say(str(path))
    click.get_current_context().exit(int(result.exit_code))


def _parted(words: Sequence[str], *, has_rules: bool) -> tuple[str, list[str]]:
    """Part the run from the overrides, of which only those of the gate mean something.

    Raises:
        UsageError: not one run is named, or an override says nothing of the gate.
    """
    overrides, references = overrides_and_words(words)
    if len(references) != 1:
        msg = f"gate takes one run, but got {len(references)}"
        raise UsageError(msg, hint="give a run folder, a run id, or `latest`")
    strange = [one for one in overrides if not one.lstrip("+").startswith(("gate=", "gate."))]
    if strange:
        msg = f"{strange[0]} says nothing of the gate"
        raise UsageError(msg, hint="use gate=NAME or gate.KEY=VALUE")
    if overrides and has_rules:
        raise UsageError("--rules and gate settings are two gates", hint="write everything into the file")
    return references[0], overrides


def _append_step_summary(result: GateResult) -> None:
    """Give GitHub Actions its summary of the step, where it asks for one.

    Raises:
        WriteError: the file it names cannot be written.
    """
    from skilleval.errors import WriteError
    from skilleval.report import WRITERS

    place = os.environ.get(_STEP_SUMMARY)
    if not place:
        return
    try:
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(WRITERS["github"].render(result.report))
    except OSError as error:
        msg = f"cannot write the summary of the step to {place}: {error.strerror}"
        raise WriteError(msg, hint=f"unset {_STEP_SUMMARY} where no step asks for it") from None


def show_checks(common: Common, result: GateResult) -> None:
    """Show the verdict, then a row a check, what failed first."""
    from skilleval.report.gates import HEADINGS, cells, failed_first, gate_sentence
    from skilleval.report.text import one_line

    state = result.report.verdict.state.value.upper()
    common.screen.say(f"{state}: {one_line(gate_sentence(result.report.gates))}")
    if result.baseline is not None:
        common.screen.say(f"baseline: {one_line(result.baseline.name)}")
    elif result.remark:
        common.screen.say(result.remark)
    show_rows(common.screen, HEADINGS, [cells(check) for check in failed_first(result.report.gates)])
