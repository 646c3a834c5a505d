"""`skilleval diff`: what became of a baseline, and whether that can be chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options
from skilleval.cli.formats import FormatName
from skilleval.cli.gate import show_checks
from skilleval.cli.rate import Rate
from skilleval.errors import Problem, UsageError
from skilleval.outcome import ExitCode, first_of

if TYPE_CHECKING:
    from skilleval.app.ci import GateResult
    from skilleval.report.diff_document import Diff

_EXAMPLE = """
skilleval diff previous latest
skilleval diff 20261101T080000Z-1a2b3c latest --fail-on-regression --margin 0.02
skilleval diff previous latest --gate no_regression
skilleval diff main.json branch.json --label-a main --label-b branch --format markdown html --output diff
"""
_SUFFIXES = {"markdown": ".md", "html": ".html", "json": ".json"}


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
    help="Files to write: markdown html json (as --output ends, else markdown).",
)
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
    from skilleval.report.comparison import table

    paths = _paths(options["formats"], options["output"])
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
    _write(found, paths)
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


def _paths(formats: Sequence[str], output: str | None) -> dict[str, Path]:
    """Say which file each format goes to.

    Raises:
        UsageError: a format is unknown, or there is no place for it.
    """
    unknown = [name for name in formats if name not in _SUFFIXES]
    if unknown:
        expected = f"one of {', '.join(_SUFFIXES)}"
        problems = tuple(Problem(where="--format", expected=expected, found=name) for name in unknown)
        raise UsageError("a comparison has no such format", problems=problems)
    if output is None:
        if formats:
            raise UsageError("--format needs a file to write", hint="name it with --output")
        return {}
    path = Path(output)
    by_suffix = {suffix: name for name, suffix in _SUFFIXES.items()}
    chosen = list(dict.fromkeys(formats)) or [by_suffix.get(path.suffix, "markdown")]
    if len(chosen) == 1:
        return {chosen[0]: path}
    stem = path.with_suffix("") if path.suffix in by_suffix else path
    return {name: stem.with_name(f"{stem.name}{_SUFFIXES[name]}") for name in chosen}


def _write(found: Diff, paths: dict[str, Path]) -> None:
    from skilleval.report import comparison, diff_html
    from skilleval.report.text import json_text
    from skilleval.results.store import write_text

    writers: dict[str, Callable[[Diff], str]] = {
        "markdown": comparison.markdown,
        "html": diff_html.render,
        "json": lambda one: json_text(one.to_json(), indent=2) + "\n",
    }
    for name, path in paths.items():
        write_text(path, writers[name](found))
