"""The generated tables of docs/scale.md; everything between its markers is made from what was found."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cost_rows import CODECS
from fits import Estimate
from projection import (
    PLAN_TRIALS,
    SUMMARY_BYTES,
    TABLES,
    Costs,
    Projection,
    jobs_of,
    projected,
    stored_bytes,
)
from workloads import WORKLOADS, Workload

SIZES = (10**6, 10**9)
WORKERS = (1, 8, 64, 512)
_BLOCK = "<!-- scale: {} -->\n{}\n<!-- /scale -->"
_UNITS = ((86_400 * 365.25, "years"), (86_400, "days"), (3600, "h"), (60, "min"), (1, "s"))


def with_blocks(page: str, found: Mapping[str, str]) -> str:
    """Put blocks in their places.

    Raises:
        KeyError: the page has no place for one of them, or a place for one that is not there.
    """
    places = re.compile(r"<!-- scale: (\w+) -->\n.*?<!-- /scale -->", re.DOTALL)
    absent = set(found) ^ {match[1] for match in places.finditer(page)}
    if absent:
        raise KeyError(", ".join(sorted(absent)))
    return places.sub(lambda match: _BLOCK.format(match[1], found[match[1]]), page)


def blocks(results: Mapping[str, Any], costs: Costs) -> dict[str, str]:
    """Make every generated block from what was found."""
    made = {
        "machine": [_machine(results)],
        "trials": _costs(costs, "trial, ", 1e3, "ms"),
        "bytes": _bytes(costs),
        "jobs": _jobs(costs),
        "checks": _checks(results["checks"]),
        "compared": _compared(results["compared"]),
        "cuts": _cuts(results["cuts"]),
        "projection": _projection(costs),
        "storage": _storage(costs),
        "limits": _limits(costs),
    }
    return {name: "\n".join(lines) for name, lines in made.items()}


def _machine(results: Mapping[str, Any]) -> str:
    machine = results["machine"]
    kind = "A quick study" if results["is_quick"] else "Measured"
    return (
        f"{kind} on {results['measured_on']}: {machine['cores']} cores, {machine['memory_gib']} GiB of memory, "
        f"{machine['system']}, Python {machine['python']}. The load was {machine['load_before']} before and "
        f"{machine['load_after']} after: above {machine['cores']}, others were using the cores too."
    )


def _table(heads: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|---|{'--:|' * (len(heads) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _costs(costs: Costs, start: str, factor: float, unit: str) -> Iterator[str]:
    chosen = {name.removeprefix(start): cost for name, cost in costs.items() if name.startswith(start)}
    rows = [(name, *_cells(cost * factor), f"{cost.n}") for name, cost in chosen.items()]
    yield from _table((start.rstrip(", "), f"CPU, {unit}", "95 % interval", "samples"), rows)


def _cells(cost: Estimate) -> tuple[str, str]:
    low, high = cost.low, cost.high
    return _number(cost.value), "–" if low is None or high is None else f"{_number(low)} to {_number(high)}"


def _bytes(costs: Costs) -> Iterator[str]:
    heads = ("table and codec", "bytes a trial", "95 % interval", "more for each byte of output")
    names = ["journal bytes", *(f"{table} bytes, {codec}" for codec in CODECS for table in TABLES)]
    rows = [
        (name, *_cells(costs[name]), f"{costs[f'{name}: each byte of output'].value:.2f}") for name in names
    ]
    yield from _table(heads, rows)


def _jobs(costs: Costs) -> Iterator[str]:
    kinds = {
        "composition of a job": ("composition", 1e3, "ms"),
        "a one-trial job without reports": ("one-trial job, reports none", 1e3, "ms"),
        "the same with JSON and Markdown": ("one-trial job, reports json and markdown", 1e3, "ms"),
        "the same with HTML": ("one-trial job, reports html", 1e3, "ms"),
        "planning, for each trial of the whole plan": ("plan: each trial of the whole", 1e6, "µs"),
        "memory of the plan, for each trial of it": ("plan memory: each trial of the whole", 1, "bytes"),
        "compaction, for each trial": ("compaction: each trial", 1e6, "µs"),
        "summary of outcomes, for each row": ("summary of outcomes: each row", 1e9, "ns"),
        "its memory, for each row": ("summary of outcomes, memory: each row", 1, "bytes"),
        "summary of stored trials, joined with scores": ("summary of stored trials: each row", 1e9, "ns"),
        "its memory, for each trial": ("summary of stored trials, memory: each row", 1, "bytes"),
    }
    rows = [
        (what, *_cells(costs[name] * factor), unit, f"{costs[name].n}")
        for what, (name, factor, unit) in kinds.items()
    ]
    yield from _table(("what", "cost", "95 % interval", "unit", "samples"), rows)


def _checks(checks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    rows = [
        (
            one["what"],
            f"{one['predicted']:.1f} {one['unit']}",
            f"{one['measured']:.1f} {one['unit']}",
            f"{100 * one['error']:+.0f} %",
            f"{one['load']:.1f}",
        )
        for one in checks
    ]
    yield from _table(("run", "predicted", "measured", "error", "load"), rows)


def _compared(compared: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    rows = [
        (
            one["workload"],
            f"{one['trials']:,}",
            f"{one['workers']}",
            span(one["simulated_s"]),
            span(one["form_s"]),
            f"{100 * (one['form_s'] / one['simulated_s'] - 1):+.1f} %",
        )
        for one in compared
    ]
    yield from _table(("workload", "trials", "workers", "simulated", "closed form", "difference"), rows)


def _cuts(cuts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    keys = ("imbalance", "with_slow", "finer_with_slow")
    rows = [(one["cut"], *(f"{one[key]:.2f}" for key in keys)) for one in cuts]
    heads = ("cut by", "a shard a worker", "one worker half as fast", "the same, eight shards a worker")
    yield from _table(heads, rows)


def _projection(costs: Costs) -> Iterator[str]:
    heads = (
        "workload",
        "trials",
        "workers",
        "time",
        "worker-hours",
        "bound by",
        "at the provider's limit",
        "own cores",
    )
    found = (
        (workload, projected(workload, costs, trials, n))
        for workload in WORKLOADS
        for trials in SIZES
        for n in WORKERS
    )
    yield from _table(heads, [_projected(workload, one) for workload, one in found])


def _projected(workload: Workload, one: Projection) -> tuple[str, ...]:
    limited = "–" if one.limited_seconds is None else span(one.limited_seconds)
    return (
        workload.name,
        f"10{_power(one.trials)}",
        f"{one.workers}",
        span(one.seconds),
        _number(one.worker_hours),
        one.bottleneck,
        limited,
        f"{one.own_cores:.2f}",
    )


def _storage(costs: Costs) -> Iterator[str]:
    heads = (
        "workload",
        "bytes a trial",
        "10⁶ trials",
        "10⁹ trials",
        "journal of a running shard",
        "tokens for 10⁶",
        "tokens for 10⁹",
    )
    rows = []
    for workload in WORKLOADS:
        each, _ = stored_bytes(workload, costs)
        found = [projected(workload, costs, trials, 1) for trials in SIZES]
        sizes = [f"{one.parquet_bytes / 1e9:,.1f} GB" for one in found]
        money = [f"{one.usd:,.0f} USD" for one in found]
        journal = f"{found[0].shard_journal_bytes / 1e9:,.1f} GB"
        rows.append((workload.name, f"{each:,.0f}", *sizes, journal, *money))
    yield from _table(heads, rows)


def _limits(costs: Costs) -> Iterator[str]:
    plan, joined, outcomes = (
        costs[name].value
        for name in (
            "plan memory: each trial of the whole",
            "summary of stored trials, memory: each row",
            "summary of outcomes, memory: each row",
        )
    )
    n_jobs = jobs_of(SIZES[1], WORKERS[-1])
    shard = SIZES[1] // n_jobs
    row_s = costs["summary of stored trials: each row"].value
    rows = [
        ("memory: the plan", _gigabytes(SIZES[1] * plan), f"{_gigabytes(PLAN_TRIALS * plan)} a plan"),
        (
            "memory: a summary of stored trials",
            _gigabytes(SIZES[1] * joined),
            f"{_gigabytes(shard * joined)} a shard",
        ),
        (
            "memory: a summary of outcomes",
            _gigabytes(SIZES[1] * outcomes),
            f"{_gigabytes(shard * outcomes)} a shard",
        ),
        ("CPU time: reading all rows once", span(SIZES[1] * row_s), f"{span(shard * row_s)} a shard"),
        (
            f"summaries to put together, {SUMMARY_BYTES / 1000:.0f} kB each (assumed)",
            "–",
            f"{n_jobs * SUMMARY_BYTES / 1e6:.0f} MB",
        ),
        ("files of Parquet", f"{len(TABLES)}", f"{n_jobs * len(TABLES):,}"),
    ]
    heads = ("10⁹ trials", "in one run", f"in {SIZES[1] // PLAN_TRIALS:,} plans and {n_jobs:,} shards")
    yield from _table(heads, rows)


def _gigabytes(size: float) -> str:
    return f"{_number(size / 1e9)} GB"


def span(seconds: float) -> str:
    """Write a span of time in a unit that suits it."""
    for size, unit in _UNITS:
        if seconds >= 1.5 * size or size == 1:
            return f"{_number(seconds / size)} {unit}"
    raise AssertionError(seconds)


def _number(value: float) -> str:
    """Write three significant digits."""
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def _power(trials: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(one)] for one in str(round(math.log10(trials))))
