"""`skilleval select`: filter and rank skills by what stored runs say of them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, common_options
from skilleval.cli.find import STORE, stored_at
from skilleval.cli.listing import show_rows
from skilleval.cli.rate import Rate
from skilleval.errors import Problem, UsageError
from skilleval.outcome import ExitCode

if TYPE_CHECKING:
    from skilleval.app.history import History
    from skilleval.app.selecting import Ranking
    from skilleval.catalog.read import Catalog

log = logging.getLogger(__name__)

_HEADINGS = (
    "rank", "skill", "version", "completion", "graded", "errors", "p95", "composite", "chance to be best", "ranks",
    "remarks",
)  # fmt: skip
_NAMED = 2
_EXAMPLE = """
skilleval select --from skills --min-completion 0.8 --top-k 3
skilleval select --from skills --strategy strategy.yaml --benchmark coding-easy --output selected.txt
skilleval select --from skills --output conf/skill_set/selected.yaml
"""


@click.command("select", cls=Command, example=_EXAMPLE, short_help="Filter and rank evaluated skills.")
@click.option(
    "--from",
    "source",
    required=True,
    type=click.Path(),
    metavar="DIR",
    help="The skills: a folder or skill.json.",
)
@click.option("--strategy", type=click.Path(), metavar="FILE", help="Filters and order, as YAML or JSON.")
@click.option(
    "--reports", type=click.Path(), metavar="DIR", help="Read figures from JSON reports in this folder."
)
@click.option("--store", type=click.Path(), metavar="DIR", help=f"Read figures from stored runs ({STORE}).")
@click.option(
    "--benchmark", shell_complete=completion.benchmarks, metavar="ID", help="Figures on this benchmark only."
)
@click.option("--scorer", metavar="NAME", help="Figures by this scorer (task, else the newest run's).")
@click.option("--min-completion", type=Rate(), metavar="RATE", help="Completion a skill must reach, 0-1.")
@click.option("--top-k", type=click.IntRange(min=0), metavar="N", help="Take the first N; 0 takes all.")
@click.option(
    "--output",
    type=click.Path(),
    metavar="FILE",
    help="Write the selected skills: a skill set (.yaml), else their paths, one a line.",
)
@common_options
def select(common: Common, **options: Any) -> None:
    """Filter and rank skills by the newest finished run of exactly this skill (id, version, files).

    Options win over the strategy file. Figures on different benchmarks, by different scorers or by different formulas
    are never mixed: name a benchmark with --benchmark where there are several. Replayed recordings do not count. Exit
    code 4 if nothing is selected.
    """
    from skilleval.app import selecting, strategy
    from skilleval.app.skill_set_file import selected_text
    from skilleval.catalog.read import read_catalog
    from skilleval.results.store import write_text

    catalog = _catalog(read_catalog([Path(options["source"])]))
    spec = strategy.with_options(
        strategy.read_strategy(Path(options["strategy"]) if options["strategy"] else None),
        min_completion=options["min_completion"],
        top_k=options["top_k"],
    )
    history = _history(catalog, reports=options["reports"], store=options["store"])
    ranking = selecting.select(
        catalog.skills, history, spec=spec, benchmark=options["benchmark"], scorer=options["scorer"]
    )
    code = ExitCode.OK if ranking.selected else ExitCode.NOTHING_EVALUATED
    if options["output"] and ranking.selected:
        output = Path(options["output"])
        write_text(output, selected_text(ranking, output))
    common.screen.document({"exit_code": int(code), **ranking.facts()})
    show(common, ranking)
    if ranking.other_scorers:
        common.screen.say(
            f"also judged by {', '.join(ranking.other_scorers)}: --scorer NAME ranks by another"
        )
    if options["output"] and ranking.selected:
        common.screen.say(f"next: {_next(Path(options['output']))}")
    click.get_current_context().exit(int(code))


def show(common: Common, ranking: Ranking) -> None:
    """Show every candidate with its figures, and what the filters did where nothing is left."""
    if ranking.benchmark:
        common.screen.say(_basis(ranking))
    show_rows(common.screen, _HEADINGS, [_cells(row) for row in ranking.rows])
    for caveat in ranking.caveats:
        common.screen.say(f"▲ {caveat}")
    if not ranking.selected:
        for line in nothing_left(ranking):
            common.screen.say(line)


def _basis(ranking: Ranking) -> str:
    """Say what the figures rest on."""
    judged = f", judged by {ranking.scorer}" if ranking.scorer else ""
    formulas = "" if ranking.preset == "default" else f", formulas of {ranking.preset}"
    return f"on {ranking.benchmark}{judged}{formulas}"


def nothing_left(ranking: Ranking) -> list[str]:
    """Say which filter removed how many."""
    n_skills = len(ranking.rows)
    removed = [f"  {name}: {n} of {n_skills}" for name, n in ranking.removed().items()]
    return ["Nothing is selected. Left out by", *removed]


def _catalog(catalog: Catalog) -> Catalog:
    """Go on without skills that cannot be read, and say so; but there must be one.

    Raises:
        CatalogError: no skill is left.
    """
    from skilleval.catalog.read import usable_skills

    usable_skills(catalog, skip_invalid=True)
    for problem in catalog.problems:
        log.warning("left out: %s", problem)
    for notice in catalog.notices:
        log.info("%s", notice)
    return catalog


def _history(catalog: Catalog, *, reports: str | None, store: str | None) -> History:
    from skilleval.app.history import read_reports, read_store

    if reports is not None and store is not None:
        problem = Problem(where="select", expected="one place to read from", found="--reports and --store")
        raise UsageError("figures are read from one place", problems=(problem,))
    history = read_store(stored_at(store), catalog.skills) if reports is None else read_reports(Path(reports))
    for notice in history.notices:
        log.warning("%s", notice)
    return history


def _next(output: Path) -> str:
    """Say how the written file is used: a skill set by its name, paths as arguments."""
    from skilleval.app.skill_set_file import SUFFIXES

    if output.suffix not in SUFFIXES:
        return f'skilleval eval --skills $(cat "{output}")'
    if output.parent.parts[-2:] == ("conf", "skill_set"):
        return f"skilleval eval skill_set={output.stem}"
    return f"put {output.name} into conf/skill_set/, then skilleval eval skill_set={output.stem}"


def _cells(row: Mapping[str, Any]) -> list[str]:
    from skilleval.report.numbers import DASH, Style, interval, shown

    rate = shown(row["completion_rate"], Style.RATE)
    low, high = row["ci_low"], row["ci_high"]
    ranks = DASH if row["rank_low"] is None else f"{row['rank_low']:g}–{row['rank_high']:g}"
    return [
        f"{row['place']}{'=' if row['is_tied'] else ''}" if row["selected"] else DASH,
        row["skill_id"],
        row["skill_version"],
        rate if low is None or high is None else f"{rate} {interval(low, high)}",
        shown(row["n_graded"], Style.COUNT),
        shown(row["error_rate"], Style.RATE),
        shown(row["p95_ms"], Style.DURATION),
        shown(row["composite"], Style.RATE),
        shown(row["p_best"], Style.RATE),
        ranks,
        "; ".join([*row["reasons"], *_remarks(row)]),
    ]


def _remarks(row: Mapping[str, Any]) -> list[str]:
    """Say what there is to know of a skill beside its figures."""
    names = list(row["dominated_by"] or ())
    beaten = ", ".join([*names[:_NAMED], *([f"{len(names) - _NAMED} more"] if len(names) > _NAMED else [])])
    found = [f"merit {row['merit']:.3g}"] if row["merit"] is not None else []
    found += ["on the front"] if row["on_front"] else []
    found += [f"beaten by {beaten}"] if beaten and "pareto" not in row["removed_by"] else []
    return found
