"""`skilleval diff`: what became of a baseline, and whether that can be chance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options
from skilleval.cli.formats import DIFF_FORMATS, FormatName, has_rows, wished
from skilleval.cli.gate import show_checks
from skilleval.cli.notebooks import chosen_notebook, notebook_options
from skilleval.cli.rate import Rate
from skilleval.errors import Problem, UsageError
from skilleval.outcome import ExitCode, first_of
from skilleval.report.diff_writers import DIFF_WRITERS

if TYPE_CHECKING:
    from skilleval.app.ci import GateResult
    from skilleval.report.diff_document import Diff

_EXAMPLE = """
skilleval diff previous latest
skilleval diff 20261101T080000Z-1a2b3c latest --fail-on-regression --margin 0.02
skilleval diff previous latest --gate no_regression
skilleval diff main.json branch.json --label-a main --label-b branch --format markdown html --output diff
"""


@click.command("diff", cls=Command, example=_EXAMPLE, short_help="Say what became of a baseline.")
@click.argument("before", metavar="BASELINE", shell_complete=completion.stored_runs)
@click.argument("after", metavar="CANDIDATE", shell_complete=completion.stored_runs)
@click.option(
    "--margin",
    type=Rate(),
    default="0.05",
    show_default=True,
    metavar="RATE",
    help="A change that does not matter, 0-1: within it runs are equivalent, beyond it a regression counts.",
)
@click.option("--fail-on-regression", is_flag=True, help="Exit 1 if one is confirmed, or a check broke.")
@click.option(
    "--confirmed-only",
    is_flag=True,
    help="With --fail-on-regression: only what is confirmed; single checks that broke may be chance.",
)
@click.option("--fail-on-inconclusive", is_flag=True, help="Exit 1 also if the runs cannot decide.")
@click.option("--gate", metavar="NAME", help="Hold the candidate against conf/gate/NAME as well (exit 1).")
@click.option(
    "--rules", type=click.Path(), metavar="FILE", help="Hold it against the rules of a file as well."
)
@click.option("--strict", is_flag=True, help="Refuse runs that differ in more than their skills (exit 2).")
@click.option("--label-a", default="before", show_default=True, metavar="TEXT", help="What to call A.")
@click.option("--label-b", default="after", show_default=True, metavar="TEXT", help="What to call B.")
@click.option(
    "--format",
    "formats",
    cls=Many,
    type=FormatName(),
    metavar="NAME...",
    help=f"Files to write: {DIFF_FORMATS}, or all (as --output ends, else markdown).",
)
@notebook_options
@click.option(
    "--output",
    type=click.Path(),
    metavar="FILE",
    help="Write the comparison here; several formats each get their own ending.",
)
@click.option(
    "--store",
    type=click.Path(),
    metavar="DIR",
    default="outputs",
    show_default=True,
    help="Where run ids, `latest` and `previous` are looked up.",
)
@common_options
def diff(common: Common, **options: Any) -> None:
    """Compare a candidate with a baseline, skill by skill, over the tasks that both tried: the verdict comes first.

    Runs are named by folder, id, part of an id, `latest` or `previous` (the newest earlier run of the same benchmark);
    JSON reports do too, with verdicts alone.
    """
    from skilleval.app.compare import compare
    from skilleval.app.diff_files import write_diff
    from skilleval.report.comparison import table

    have_rows = has_rows(options["before"]) and has_rows(options["after"])
    paths = _paths(options["formats"], options["output"], have_rows=have_rows)
    notebook = chosen_notebook(options, paths, DIFF_WRITERS)
    found = compare(
        options["before"],
        options["after"],
        store=Path(options["store"]),
        labels=(options["label_a"], options["label_b"]),
        margin=_margin(options["margin"]),
        strict=options["strict"],
    )
    gated = _gated(options)
    code = first_of([_exit_code(found, options), *([gated.exit_code] if gated else [])])
    held = {"gate": gated.facts()} if gated else {}
    common.screen.document({**found.to_json(), **held, "exit_code": int(code)})
    write_diff(
        found,
        paths,
        runs=(options["before"], options["after"]),
        store=Path(options["store"]),
        notebook=notebook,
    )
    common.screen.show(table(found))
    if gated:
        show_checks(common, gated)
    for path in paths.values():
        common.screen.say(f"Report: {path}")
    click.get_current_context().exit(int(code))


def _gated(options: dict[str, Any]) -> GateResult | None:
    """Hold the candidate against rules, where some are named; regressions are measured against the baseline.

    Raises:
        UsageError: two gates are named.
    """
    from skilleval.app.ci import gate_run

    name, rules = options["gate"], options["rules"]
    if name is None and rules is None:
        return None
    if name is not None and rules is not None:
        raise UsageError("--gate and --rules are two gates", hint="name one of them")
    return gate_run(
        options["after"],
        store=Path(options["store"]),
        baseline=options["before"],
        rules=Path(rules) if rules else None,
        overrides=[f"gate={name}"] if name else [],
        project=Path.cwd(),
    )


def _margin(margin: float) -> float:
    if 0 < margin < 1:
        return margin
    problem = Problem(
        where="--margin", expected="a share between 0 and 1, both excluded", found=f"{margin:g}"
    )
    raise UsageError("with this margin nothing could be told", problems=(problem,))


def _exit_code(found: Diff, options: dict[str, Any]) -> ExitCode:
    broke = found.has_broken and not options["confirmed_only"]
    regressed = options["fail_on_regression"] and (found.is_confirmed or broke)
    undecided = options["fail_on_inconclusive"] and found.is_inconclusive
    return ExitCode.GATE_NOT_MET if regressed or undecided else ExitCode.OK


def _paths(formats: Sequence[str], output: str | None, *, have_rows: bool) -> dict[str, Path]:
    """Say which file each format goes to.

    Raises:
        UsageError: a format is unknown, or there is no place for it.
    """
    chosen = wished(formats, DIFF_WRITERS, has_rows=have_rows)
    unknown = [name for name in chosen if name not in DIFF_WRITERS]
    if unknown:
        expected = f"one of {', '.join(DIFF_WRITERS)}"
        problems = tuple(Problem(where="--format", expected=expected, found=name) for name in unknown)
        raise UsageError("a comparison has no such format", problems=problems)
    if output is None:
        if chosen:
            raise UsageError("--format needs a file to write", hint="name it with --output")
        return {}
    path = Path(output)
    ending = _ending(path)
    if len(chosen) < 2:  # noqa: PLR2004 - one format takes the name as it is
        return {chosen[0] if chosen else ending or "markdown": path}
    stem = path.name.removesuffix(DIFF_WRITERS[ending].suffix) if ending else path.name
    return {name: path.with_name(f"{stem}{DIFF_WRITERS[name].suffix}") for name in chosen}


def _ending(path: Path) -> str | None:
    """Give the format that a file name ends as, the longest ending first: `.github.md` is no plain Markdown."""
    by_length = sorted(DIFF_WRITERS, key=lambda name: -len(DIFF_WRITERS[name].suffix))
    return next((name for name in by_length if path.name.endswith(DIFF_WRITERS[name].suffix)), None)
