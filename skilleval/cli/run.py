"""`skilleval run`: find skills, evaluate them, select the best, report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, common_options, overrides_and_words
from skilleval.cli.find import facts, remarks, tell
from skilleval.cli.rate import Rate
from skilleval.cli.request import Request
from skilleval.cli.running import (
    carry_out,
    evaluating_options,
    get_ready,
    next_step,
    option_overrides,
    tell_paths,
)
from skilleval.cli.select import show
from skilleval.errors import UsageError
from skilleval.outcome import ExitCode, first_of

if TYPE_CHECKING:
    from skilleval.analytics.selection import SelectionSpec
    from skilleval.app.evaluate import Outcome
    from skilleval.app.finding import SearchResult
    from skilleval.app.selecting import Ranking

_LIMIT_WITH_QUERY = 50
_MIN_COMPLETION, _TOP_K = 0.7, 5
_EXAMPLE = """
skilleval run -q "arithmetic" --runs 3
skilleval run --strategy strategy.yaml --benchmark coding-easy --top-k 2 --format html
"""


@click.command(
    "run", cls=Command, example=_EXAMPLE, short_help="Find, evaluate, select and report in one go."
)
@click.argument("words", shell_complete=completion.words, nargs=-1, metavar="[KEY=VALUE]...")
@click.option("-q", "--query", metavar="WORDS", help="Evaluate the 50 skills that fit best; without it, all.")
@click.option("--strategy", type=click.Path(), metavar="FILE", help="Filters and order of the selection.")
@click.option(
    "--top-k", type=click.IntRange(min=0), metavar="N", help="Select the first N; 0 selects all (5)."
)
@click.option(
    "--min-completion",
    type=Rate(),
    metavar="RATE",
    help="Completion to be selected, 0-1 (0.7, or the strategy's).",
)
@click.option(
    "--skills-dir",
    type=click.Path(),
    default="skills",
    show_default=True,
    metavar="DIR",
    help="Where skills are.",
)
@evaluating_options
@common_options
def run_(common: Common, **options: Any) -> None:
    """Find skills, evaluate them on one benchmark, select the best by this run alone, and report.

    Any KEY=VALUE overrides a setting, as for eval. Exit codes: those of eval, 4 if no skill was found, 1 if none was
    selected.
    """
    overrides, words = overrides_and_words(options["words"])
    if words:
        msg = f"run takes no skills, but got {words[0]!r}"
        raise UsageError(msg, hint="name the folder with --skills-dir, and settings as KEY=VALUE")
    spec = _spec(options)
    found = _found(common, options)
    if not found.hits:
        common.screen.document({"exit_code": int(ExitCode.NOTHING_EVALUATED), "found": facts(found)})
        click.get_current_context().exit(int(ExitCode.NOTHING_EVALUATED))
    outcome = _evaluated(common, found, [*_option_overrides(options, spec), *overrides])
    ranking = _ranking(found, outcome, spec)
    selected = ExitCode.OK if ranking.selected else ExitCode.GATE_NOT_MET
    code = first_of([outcome.exit_code, selected])
    common.screen.document(
        {**outcome.facts(), "exit_code": int(code), "found": facts(found), "selection": ranking.facts()}
    )
    _show(common, outcome, ranking)
    click.get_current_context().exit(int(code))


def _spec(options: Mapping[str, Any]) -> SelectionSpec:
    """Read the strategy; without one the usual threshold holds. The number to take is never the strategy's alone."""
    from skilleval.app.strategy import read_strategy, with_options

    strategy, least, top_k = options["strategy"], options["min_completion"], options["top_k"]
    spec = read_strategy(Path(strategy) if strategy else None)
    least = _MIN_COMPLETION if least is None and not strategy else least
    top_k = _TOP_K if top_k is None and spec.top_k is None else top_k
    return with_options(spec, min_completion=least, top_k=top_k)


def _found(common: Common, options: Mapping[str, Any]) -> SearchResult:
    from skilleval.app.finding import Search, find_skills

    query = options["query"]
    search = Search(
        skills_dir=Path(options["skills_dir"]),
        query=query,
        limit=_LIMIT_WITH_QUERY if query else None,
    )
    found = find_skills(search)
    tell(found)
    common.screen.say(f"1 find: {', '.join(hit.skill.id for hit in found.hits) or 'nothing'}")
    for line in remarks(found):
        common.screen.say(f"  {line}")
    return found


def _option_overrides(options: Mapping[str, Any], spec: SelectionSpec) -> Iterator[str]:
    """Turn options into overrides; the report judges by the threshold of the selection."""
    from skilleval.config.compose import quote

    if spec.filters.min_completion_rate is not None:
        yield f"gate.min_completion={quote(spec.filters.min_completion_rate)}"
    yield from option_overrides(options)


def _evaluated(common: Common, found: SearchResult, overrides: Sequence[str]) -> Outcome:
    from skilleval.config.compose import quote

    paths = [str(hit.skill.source) for hit in found.hits]
    prepared = get_ready(common, Request(overrides=(f"skill_set.paths={quote(paths)}", *overrides)))
    benchmark, n_tasks = prepared.benchmark, len(prepared.benchmark.tasks)
    tasks = f"{n_tasks} task{'' if n_tasks == 1 else 's'}"
    common.screen.say(f"2 evaluate: {tasks} of {benchmark.id}@{benchmark.version}")
    return carry_out(common.screen, prepared)


def _ranking(found: SearchResult, outcome: Outcome, spec: SelectionSpec) -> Ranking:
    from skilleval.app.history import History, measurements
    from skilleval.app.selecting import select

    return select([hit.skill for hit in found.hits], History(measurements(outcome.report)), spec=spec)


def _show(common: Common, outcome: Outcome, ranking: Ranking) -> None:
    from skilleval.report.terminal import table

    names = ", ".join(row["skill_id"] for row in ranking.selected) or "nothing"
    common.screen.say(f"3 select: {names}")
    show(common, ranking)
    common.screen.say("4 report:")
    common.screen.show(table(outcome.report, width=common.screen.width))
    common.screen.say("")
    tell_paths(common, outcome, next_step(outcome))
