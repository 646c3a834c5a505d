"""What `--plan-only` prints: the plan of a run, its hash, and on demand each of its trials."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import click

from skilleval.errors import UsageError

if TYPE_CHECKING:
    from skilleval.app.planning import Plan
    from skilleval.app.prepare import Prepared
    from skilleval.cli.console import Screen
    from skilleval.cli.request import Request

_CSV = "csv"
_COLUMNS: Final = (
    *("planned_id", "trial_id", "skill_id", "skill_version", "mode", "model"),
    *("task_id", "repeat", "seed", "shard"),
)
_SHOWN_RUNS = 8


def format_of_plan(options: Mapping[str, Any]) -> str | None:
    """Say in which format the plan is wanted; null: as text.

    Raises:
        UsageError: it is not written in that format.
    """
    if not options["plan_only"] or not options["formats"]:
        return None
    if list(options["formats"]) != [_CSV]:
        msg = f"a plan is not written as {', '.join(options['formats'])}"
        raise UsageError(msg, hint="--plan-only goes with --format csv, with --json, or with neither")
    return _CSV


def check_plan_only(request: Request) -> None:
    """Refuse what has no meaning where a plan is only shown."""
    unfit = {
        "--dry-run": request.dry_run,
        "--multirun": request.multirun,
        "--resume": request.resume is not None,
        "--cfg": request.cfg,
        "--info": request.info,
    }
    given = [name for name, value in unfit.items() if value]
    if request.plan_only and given:
        hint = (
            "leave -m out: one plan holds all shards; what the jobs of a sweep would run is told by --dry-run"
        )
        raise UsageError(
            f"--plan-only shows the plan of one new run; it does not go with {given[0]}",
            hint=hint if request.multirun else "leave one of them out",
        )


def show_plan(screen: Screen, prepared: Prepared, *, as_csv: bool) -> None:
    """Print the plan of a run that is ready, over all its shards."""
    plan = prepared.plan
    assert plan is not None
    ids = plan.ids
    shards = plan.shards(ids)
    if as_csv and not screen.json:
        _write_csv(_rows(plan, ids, shards))
        return
    facts, counts = prepared.facts(), Counter(shards)
    told = {
        "plan_only": True,
        **plan.facts(),
        **{name: facts[name] for name in ("skills", "benchmark", "scorers", "repeats", "modes")},
        "seed": prepared.settings.runner.seed,
        "trials_by_shard": [counts[shard] for shard in range(plan.n_shards)],
    }
    if screen.json:
        screen.document({**told, "trials": list(_rows(plan, ids, shards))})
        return
    screen.say(_text(told))


def _rows(plan: Plan, ids: list[str], shards: list[int]) -> Iterator[dict[str, Any]]:
    """Give one row a trial, in the order in which they would run."""
    for planned_id, trial, shard in zip(ids, plan.trials, shards, strict=True):
        condition = trial.condition
        values = (
            *(planned_id, trial.trial_id, trial.skill.id, trial.skill.version, condition.mode.value),
            *(condition.model, trial.task.id, trial.repeat, trial.seed, shard),
        )
        yield dict(zip(_COLUMNS, values, strict=True))


def _write_csv(rows: Iterator[dict[str, Any]]) -> None:
    from skilleval.report.csv_writer import cell

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(_COLUMNS)
    for row in rows:
        writer.writerow([cell(value) for value in row.values()])
    click.echo(out.getvalue(), nl=False)


def _text(told: Mapping[str, Any]) -> str:
    lines = [
        f"skills:     {', '.join(told['skills'])}",
        f"benchmark:  {told['benchmark']}",
        f"scorers:    {', '.join(told['scorers'])}",
        f"trials:     {told['n_trials']:,} (repeats {told['repeats']}, seed {told['seed']})",
    ]
    if told["shards"] > 1:
        lines.append(f"shards:     {told['shards']:,} (the first is 0): {_sizes(told['trials_by_shard'])}")
    if told["durations"]:
        lines.append(f"balanced:   by the latencies of {told['durations']['run_id']}")
    return "\n".join([*lines, f"plan:       {told['digest']}", "Nothing was run and nothing was written."])


def _sizes(numbers: list[int]) -> str:
    """Say how many trials the shards have, e.g. `shards 0-4 have 2 trials each, shard 5 has 1 trial`.

    Where they differ too often, how many shards have how many, e.g. `12 shards have 3 trials each`.
    """
    runs = [(list(places), n) for n, places in groupby(range(len(numbers)), key=numbers.__getitem__)]
    if len(runs) > _SHOWN_RUNS:
        counts = sorted(Counter(numbers).items(), reverse=True)
        return ", ".join(
            _size("1 shard" if times == 1 else f"{times:,} shards", times, n) for n, times in counts
        )
    return ", ".join(
        _size(f"shard {at[0]}" if len(at) == 1 else f"shards {at[0]}-{at[-1]}", len(at), n) for at, n in runs
    )


def _size(who: str, n_shards: int, n: int) -> str:
    trials = {0: "no trial", 1: "1 trial"}.get(n, f"{n:,} trials")
    if n_shards == 1:
        return f"{who} has {trials}"
    return f"{who} have {trials} each" if n else f"{who} have none"
