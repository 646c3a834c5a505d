"""`skilleval find`: which skills there are, by query, tag, adapter and stored completion."""

from __future__ import annotations

import logging
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli.arguments import Command, Common, Many, common_options
from skilleval.cli.listing import show_rows
from skilleval.cli.rate import Rate
from skilleval.errors import Problem, UsageError

if TYPE_CHECKING:
    from skilleval.app.finding import Found, SearchResult

log = logging.getLogger(__name__)

STORE = "outputs"
_HEADINGS = ("skill", "version", "adapter", "tags", "completion", "judged by", "relevance", "description")
_EXAMPLE = """
skilleval find -q "unit conversion"
skilleval find --tag math text --adapter subprocess
skilleval find --min-completion 0.9 --json
"""


@click.command("find", cls=Command, example=_EXAMPLE, short_help="Look for skills.")
@click.option(
    "-q", "--query", metavar="WORDS", help="Rank by name, description and tags; typing errors are forgiven."
)
@click.option("-t", "--tag", "tags", cls=Many, metavar="TAG...", help="Only skills with all of these tags.")
@click.option("-a", "--adapter", metavar="KIND", help="Only skills that are driven this way.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="At most N hits."
)
@click.option(
    "--min-completion", type=Rate(), metavar="RATE", help="Only skills whose newest run reaches this, 0-1."
)
@click.option("--scorer", metavar="NAME", help="Completion by this scorer (task, else the newest run's).")
@click.option(
    "--skills-dir",
    type=click.Path(),
    default="skills",
    show_default=True,
    metavar="DIR",
    help="Where skills are looked for.",
)
@click.option(
    "--store", type=click.Path(), metavar="DIR", help=f"Where stored runs are looked for ({STORE})."
)
@common_options
def find(common: Common, **options: Any) -> None:
    """Look for skills in a folder and below it.

    With a query the most relevant come first; without one, those with the highest stored completion rate, then by
    name. The newest finished run of exactly this skill (id, version, files) counts, on whatever benchmark, but by one
    scorer with the same settings for all; replayed recordings do not count. No hit is no error: exit code 0.
    """
    from skilleval.app.finding import Search, find_skills

    search = Search(
        skills_dir=Path(options["skills_dir"]),
        store=stored_at(options["store"]),
        query=options["query"],
        tags=options["tags"],
        adapter=options["adapter"],
        min_completion=options["min_completion"],
        scorer=options["scorer"],
        limit=options["limit"],
    )
    result = find_skills(search)
    tell(result)
    common.screen.document(facts(result))
    if not common.screen.json:
        _show(common, result)


def stored_at(store: str | None) -> Path:
    """Give the place of stored runs; a folder that was named must be there.

    Raises:
        ResultsError: it is an address that cannot be used.
        UsageError: it is not there.
    """
    from skilleval.results.places import is_elsewhere

    if store is not None and not is_elsewhere(store) and not Path(store).is_dir():
        problem = Problem(where="--store", expected="a folder of stored runs", found=store)
        raise UsageError("there is no such folder", problems=(problem,))
    return Path(store or STORE)


def tell(result: SearchResult) -> None:
    """Say on stderr what is wrong with some skills or runs: it does not stop the others."""
    for problem in result.problems:
        log.warning("left out: %s", problem)
    for notice in result.notices:
        log.info("%s", notice)


def facts(result: SearchResult) -> dict[str, Any]:
    """Give the result as JSON."""
    return {
        "n_skills": result.n_skills,
        "n_fitting": result.n_fitting,
        "scorer": result.scorer,
        "other_scorers": list(result.other_scorers),
        "hits": [hit.facts() for hit in result.hits],
        "without_history": [f"{skill.id} {skill.version}" for skill in result.unknown],
        "problems": [asdict(problem) for problem in result.problems],
    }


def remarks(result: SearchResult) -> list[str]:
    """Say what the list of hits does not show."""
    lines = []
    if not result.hits:
        lines.append(f"No hit among {result.n_skills} skill{'' if result.n_skills == 1 else 's'}.")
    if result.n_fitting > len(result.hits):
        lines.append(f"{len(result.hits)} of {result.n_fitting} hits; --limit shows more.")
    if result.unknown:
        names = ", ".join(f"{skill.id} {skill.version}" for skill in result.unknown)
        lines.append(f"Left out, because no comparable run says how well they do by {result.scorer}: {names}")
    if result.other_scorers:
        lines.append(
            f"Completion as judged by {result.scorer}; also judged by {', '.join(result.other_scorers)} (--scorer)."
        )
    return lines


def _show(common: Common, result: SearchResult) -> None:
    if result.hits:
        show_rows(common.screen, _HEADINGS, [_cells(hit) for hit in result.hits])
    for line in remarks(result):
        common.screen.say(line)


def _cells(hit: Found) -> list[str]:
    from skilleval.report.columns import number
    from skilleval.report.numbers import Style, shown

    skill, measured = hit.skill, hit.measured
    graded = None if measured is None else number(measured.figures, "n_graded")
    rate = shown(hit.completion_rate, Style.RATE)
    return [
        skill.id,
        skill.version,
        skill.adapter,
        ", ".join(skill.tags),
        rate if measured is None else f"{rate} on {measured.benchmark_id}",
        "–" if measured is None else f"{measured.scorer}, {shown(graded, Style.COUNT)} graded",
        shown(hit.relevance, Style.RATE),
        skill.description,
    ]
