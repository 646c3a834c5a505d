"""A sweep in words: what each setting does to the metric, which settings did best, and what limits all of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from skilleval.report.diff_phrases import LABELS, effect_interval, effect_text
from skilleval.report.numbers import MINUS, counted, points
from skilleval.report.sweep_document import SweepAbout, SweepMethod, Values, settings_text

_SHOWN = ("improved", "regressed")
_ALIKE = ("equivalent", "unchanged")
_SAME_RATIO = "10 %"
_EXACT = 1e-9
_NAMED = 5


def metric_label(name: str) -> str:
    """Name a metric as readers know it."""
    return LABELS.get(name, name)


def effect_sentences(names: Sequence[str], effects: Sequence[Values], method: SweepMethod) -> list[str]:
    """Say what each setting does: first those that make a difference, then those that make none, then all else."""
    said = [
        effect_sentence(name, [row for row in effects if row["setting"] == name], method) for name in names
    ]
    label = metric_label(method.metric)
    starts = [(not text.startswith(label), "makes no difference" not in text) for text in said]
    return [said[at] for at in sorted(range(len(said)), key=lambda at: starts[at])]


def effect_sentence(name: str, rows: Sequence[Values], method: SweepMethod) -> str:
    """Say what one setting does to the metric, from the rows of its comparisons."""
    known = [row for row in rows if row["n_tasks"]]
    if not known:
        return (
            f"{name}: nothing to compare, because no task was graded at two of its levels with all else equal"
        )
    label = metric_label(method.metric)
    shown = [row for row in known if row["change"] in _SHOWN]
    if shown:
        row = max(shown, key=_size)
        of = f" ({len(shown)} of {len(known)} differences shown)" if len(known) > 1 else ""
        small = f", though by less than {margin_text(method)}" if _is_small(shown, method) else ""
        return f"{label} depends on {name}{small}: {_against(row)}{of}"
    row = max(known, key=_size)
    if all(one["change"] == "equivalent" for one in known):
        return f"{name} makes no difference within ±{margin_text(method)}: {_against(row)}"
    if all(one["change"] in _ALIKE for one in known) and _size(row) == 0:
        few = (
            f" ({counted(row['n_more'], 'more task')} would rule out {margin_text(method)})"
            if row["n_more"]
            else ""
        )
        return f"{name} changed nothing on {counted(row['n_tasks'], 'task')}{few}"
    return f"{name} is undecided: {_against(row)}"


def _is_small(rows: Sequence[Values], method: SweepMethod) -> bool:
    return all(row["equivalence_p"] is not None and row["equivalence_p"] <= 1 - method.level for row in rows)


def _against(row: Values) -> str:
    figure = " ".join(part for part in (effect_text(row), effect_interval(row)) if part)
    return f"{row['level_after']} {figure} against {row['level_before']}"


def _size(row: Values) -> float:
    effect = row["effect"] or 0.0
    return abs(math.log(effect)) if row["kind"] == "ratio" and effect > 0 else abs(effect)


def margin_text(method: SweepMethod) -> str:
    """Write what does not matter."""
    return _SAME_RATIO if method.kind == "ratio" else f"{points(method.margin).lstrip('+')} pp"


def best_sentence(best: Sequence[Values], names: tuple[str, ...]) -> str:
    """Say which settings did best and how sure that is; empty where there was no choice."""
    known = [row for row in best if row["mean"] is not None]
    if not best:
        return ""
    if len(known) < len(best) or best[0]["p_best"] is None:
        return "best settings: not known, because the combinations share fewer than two graded tasks"
    rivals = sum(bool(row["in_best_set"]) for row in best) - 1
    chance = percent(best[0]["p_best"])
    named = settings_text(best[0], names)
    if rivals == len(best) - 1:  # a share of resamples is no proof, so nothing is called sure here
        first = f"first in {chance} of resamples"
        return f"no best settings: none of the {len(best)} combinations is told from {named} ({first})"
    told = f"; {counted(rivals, 'other')} not told from it" if rivals else ""
    return f"best: {named} ({chance} sure{told})"


def percent(share: float) -> str:
    """Write a chance as whole percent, never 0 or 100 for what is neither."""
    whole = round(100 * share)
    if 0 < share < 1:
        whole = min(max(whole, 1), 99)
    return f"{whole} %"


def missing_sentence(about: SweepAbout, jobs: Sequence[Values]) -> str:
    """Say how many jobs have no results; empty where all have."""
    lacking = [job for job in jobs if not job["counts"]]
    if not lacking:
        return ""
    has = "has" if len(lacking) == 1 else "have"
    named = ", ".join(f"job {job['job']} {job['state']}" for job in lacking[:_NAMED])
    more = " …" if len(lacking) > _NAMED else ""
    return f"{len(lacking)} of {counted(about.n_jobs, 'job')} {has} no result that counts ({named}{more})"


def ranking_sentences(
    names: Sequence[str], agreement: Sequence[Values], flips: Sequence[Values]
) -> Iterator[str]:
    """Say on which settings the order of the skills depends; nothing where there are no two skills to order."""
    same = []
    for name in names:
        known = [row for row in agreement if row["setting"] == name and row["kendall_tau"] is not None]
        if not known:
            continue
        lowest = min(known, key=lambda row: row["kendall_tau"])
        if lowest["kendall_tau"] > 1 - _EXACT:
            same.append(name)
        else:
            yield _reordered(name, lowest, [row for row in flips if row["setting"] == name])
    if same:
        yield f"the order of the skills is the same at every level of {', '.join(same)}"


def _reordered(name: str, lowest: Values, flips: Sequence[Values]) -> str:
    sure = sum(bool(row["is_shown"]) for row in flips)
    verb = "changes" if len(flips) == 1 else "change"
    swaps = f"; {counted(len(flips), 'pair')} of skills {verb} places, {sure} beyond chance" if flips else ""
    pair = f"{lowest['level_a']} and {lowest['level_b']}"
    tau = f"{lowest['kendall_tau']:.2f}".replace("-", MINUS)
    return f"the order of the skills depends on {name}: τ-b {tau} between {pair}{swaps}"


def caveats(
    *, effects: Sequence[Values], best: Sequence[Values], is_planned: bool, skipped: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Say what limits what is said."""
    partial = dict.fromkeys(
        str(row["setting"])
        for row in effects
        if row["n_cells"] < max(row["n_cells_before"], row["n_cells_after"])
    )
    if partial:
        yield f"{', '.join(partial)}: some cells have no counterpart, so only the matched ones are compared"
    if len(best) > 1:
        yield (
            f"the best of {len(best)} combinations was chosen and measured on the same tasks: expect it to do a little "
            "worse on new ones (winner's curse)"
        )
    if any(row["in_best_set"] is None for row in best):
        yield "only the combinations nearest to the best one were tested against it"
    if not is_planned:
        yield "the sweeper chose settings as it went, so that levels were not tried equally often"
    for one, other in skipped:
        yield f"the interaction of {one} and {other} was not worked out: they have too many levels"
