"""`skilleval cache`: what the index of stored attempts holds, and forgetting parts of it."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli.arguments import Command, Common, common_options
from skilleval.errors import UsageError

if TYPE_CHECKING:
    from skilleval.results.cache import IndexedRun

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_STATS = """
skilleval cache stats
skilleval cache stats --json
"""
_PRUNE = """
skilleval cache prune --gone
skilleval cache prune --older-than 30d --dry-run
"""
_DIR = click.option(
    "--cache-dir",
    type=click.Path(),
    default="outputs/.cache",
    show_default=True,
    metavar="DIR",
    help="The folder that paths.cache names.",
)


class Age(click.ParamType[timedelta]):
    """A length of time such as `30d`: minutes, hours, days or weeks."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Read the number and its unit."""
        match = re.fullmatch(r"(\d{1,5})([mhdw])", str(value))
        if match is None:
            self.fail(f"{value!r} is no age; write a number and m, h, d or w, e.g. 30d.", param, ctx)
        return timedelta(**{_UNITS[match[2]]: int(match[1])})


@click.group(
    short_help="Show and prune the index of stored attempts.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
def cache() -> None:
    """Look after the index by which runner.cache=reuse finds attempts of earlier runs again.

    The index holds no results: those stand in the runs alone.
    """


@cache.command("stats", cls=Command, example=_STATS, short_help="Say what the index holds.")
@_DIR
@common_options
def stats(common: Common, cache_dir: str) -> None:
    """Count the indexed runs and attempts, also by skill, and the runs that are gone from where they stood."""
    from skilleval.results.cache import index_size, indexed_runs

    size = index_size(indexed_runs(Path(cache_dir)))
    common.screen.document({"cache_dir": cache_dir, **asdict(size)})
    common.screen.say(f"{'runs:':12}{size.n_runs:,} ({size.n_gone:,} of them gone)")
    common.screen.say(f"{'attempts:':12}{size.n_attempts:,} of {size.n_calls:,} different calls")
    common.screen.say(f"{'size:':12}{size.n_bytes:,} bytes in {cache_dir}")
    for skill_id, n in size.by_skill.items():
        common.screen.say(f"  {skill_id}: {n:,}")


@cache.command("prune", cls=Command, example=_PRUNE, short_help="Forget parts of the index, never results.")
@click.option(
    "--older-than", type=Age(), metavar="AGE", help="Forget runs indexed longer ago, e.g. 30d or 12h."
)
@click.option("--gone", is_flag=True, help="Forget runs that stand there no more.")
@click.option("--dry-run", is_flag=True, help="Say what would be forgotten, and forget nothing.")
@_DIR
@common_options
def prune(common: Common, *, older_than: timedelta | None, gone: bool, dry_run: bool, cache_dir: str) -> None:
    """Forget index entries that meet one of the conditions given. No run and no result is removed by this."""
    from skilleval.results.cache import forget, indexed_runs

    if older_than is None and not gone:
        msg = "prune needs a condition"
        raise UsageError(msg, hint="give --gone, --older-than AGE, or both")
    limit = datetime.now(tz=UTC) - older_than if older_than is not None else None
    runs = indexed_runs(Path(cache_dir))
    chosen = [run for run in runs if _is_chosen(run, limit, gone=gone)]
    for run in chosen:
        if not dry_run:
            forget(run)
    common.screen.document(
        {"dry_run": dry_run, "forgotten": [run.run_id for run in chosen], "kept": len(runs) - len(chosen)}
    )
    for run in chosen:
        common.screen.say(f"{run.run_id}  {run.folder}")
    done = "would be forgotten" if dry_run else "forgotten"
    common.screen.say(f"{len(chosen)} of {len(runs)} index entries {done}; results are not touched.")


def _is_chosen(run: IndexedRun, limit: datetime | None, *, gone: bool) -> bool:
    return (limit is not None and run.made_at < limit) or (gone and run.is_gone)
