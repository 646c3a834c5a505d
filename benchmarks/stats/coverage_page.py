"""The tables of the coverage study as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coverage import Coverage

_HEAD = """# Coverage of intervals

<!-- written by `make study-coverage`; do not edit by hand -->

How often does a nominal 95 % interval hold the true rate? Each simulated task draws its own chance of passing from a
beta distribution; its repeats pass by that chance. Bounds come from the functions of the product. Single cells:
`coverage.csv`.
"""


def page(found: Sequence[Coverage], beside: Sequence[Coverage], broken: Sequence[str]) -> str:
    """Write the whole page."""
    return "\n".join([_HEAD, *_default(found, broken), "", *_beside(beside)]) + "\n"


def _default(found: Sequence[Coverage], broken: Sequence[str]) -> Iterator[str]:
    rates = np.array([one.covered for one in found])
    yield "## The default, `agresti_coull_t`"
    yield ""
    yield f"{len(found):,} cells, {found[0].simulations:,} simulated runs each."
    yield ""
    yield "| promise | found |"
    yield "|---|---|"
    yield f"| every cell covers 91.5–99 % | {_percent(rates.min())} to {_percent(rates.max())} |"
    yield f"| 99 % of the cells cover 93 % or more | {_percent((rates >= 0.93).mean())} of them do |"
    yield f"| the mean over the grid is 94.5–96.5 % | {_percent(rates.mean())} |"
    yield ""
    yield "**All promises are kept.**" if not broken else "**Broken:** " + "; ".join(broken)
    axes: tuple[tuple[str, Callable[[Coverage], float]], ...] = (
        ("tasks", lambda one: one.cell.tasks),
        ("repeats", lambda one: one.cell.repeats),
        ("true rate", lambda one: one.cell.rate),
        ("correlation within tasks", lambda one: one.cell.correlation),
    )
    for name, key in axes:
        yield ""
        yield from _along(found, name, key)
    yield ""
    yield from _lowest(found)


def _along(found: Sequence[Coverage], name: str, key: Callable[[Coverage], float]) -> Iterator[str]:
    yield f"| {name} | lowest | mean | highest | mean width |"
    yield "|--:|--:|--:|--:|--:|"
    for value in sorted({key(one) for one in found}):
        cells = [one for one in found if key(one) == value]
        rates = np.array([one.covered for one in cells])
        width = np.mean([one.width for one in cells])
        shown = " | ".join(_percent(rate) for rate in (rates.min(), rates.mean(), rates.max()))
        yield f"| {value:g} | {shown} | {width:.3f} |"


def _lowest(found: Sequence[Coverage]) -> Iterator[str]:
    yield "The ten cells that cover least:"
    yield ""
    yield "| tasks | repeats | true rate | correlation | covered |"
    yield "|--:|--:|--:|--:|--:|"
    for one in sorted(found, key=lambda one: one.covered)[:10]:
        cell = one.cell
        values = f"{cell.tasks} | {cell.repeats} | {cell.rate:g} | {cell.correlation:g}"
        yield f"| {values} | {_percent(one.covered)} |"


def _beside(beside: Sequence[Coverage]) -> Iterator[str]:
    methods = list(dict.fromkeys(one.method for one in beside))
    yield "## All methods in twelve cells"
    yield ""
    yield (
        f"{beside[0].simulations:,} simulated runs each, bootstraps with 1,000 resamples. `eval_skills` is the "
        "interval of that tool: a percentile bootstrap over trials, as if repeats were other tasks. `wilson` and "
        "`clopper_pearson` take trials for independent too. A run for which a method gives no interval is a miss."
    )
    yield ""
    yield f"| tasks × repeats | true rate | correlation | {' | '.join(f'`{name}`' for name in methods)} |"
    yield f"|---|--:|--:|{'--:|' * len(methods)}"
    for cell in dict.fromkeys(one.cell for one in beside):
        row = [_percent(one.covered) for one in beside if one.cell == cell]
        place = f"{cell.tasks} × {cell.repeats} | {cell.rate:g} | {cell.correlation:g}"
        yield f"| {place} | {' | '.join(row)} |"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
