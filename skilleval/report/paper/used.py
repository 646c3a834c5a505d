"""Which methods stand behind the numbers of a paper, by the words of `references.METHODS`."""

from __future__ import annotations

from collections.abc import Iterator

from skilleval.report.arms import Uplift
from skilleval.report.columns import number, words
from skilleval.report.paper.document import Compared, Group, Paper

_ONE_SIDED = "one-sided"
_NO_INTERVAL = "no interval"
_PASS_AT_K = "pass_at_k"  # noqa: S105 - a rate of passing, not a password
_OURS = "default"
_BOOTSTRAPS = {"bootstrap", "bca"}


def methods_used(paper: Paper) -> frozenset[str]:
    """Give the methods that some number of the paper rests on."""
    return frozenset(method for group in paper.groups for method in of_group(group))


def of_group(group: Group) -> Iterator[str]:
    """Give the methods behind the numbers of a group, some more than once."""
    yield from _intervals(group)
    yield from _comparisons(group)
    yield from _agreement(group)


def _intervals(group: Group) -> Iterator[str]:
    interval = group.formulas.interval
    if group.formulas.preset != _OURS:
        return
    for row in group.report.summary:
        said = words(row, "ci_method")
        if said and not said.startswith(_NO_INTERVAL):
            yield "one_sided" if said.startswith(_ONE_SIDED) else interval
        if number(row, "partial_score_ci_low") is not None:
            yield interval if interval in _BOOTSTRAPS else "mean_interval"
        if number(row, "p50_ms_ci_low") is not None or number(row, "p95_ms_ci_low") is not None:
            yield "percentile_interval"
    if group.formulas.scoring_method == _PASS_AT_K:
        yield "pass_at_k"


def _comparisons(group: Group) -> Iterator[str]:
    tested: tuple[Compared | Uplift, ...] = (*group.compared, *group.report.uplift)
    for one in tested:
        if one.p_value is not None:
            yield "sign_flips"
        if "draws" in one.p_method:
            yield "drawn_sign_flips"
        if one.ci_method and not one.ci_method.startswith(_NO_INTERVAL):
            yield "paired_t"
    if any(one.p_holm is not None for one in group.compared):
        yield "holm"
    if any(one.gain is not None for one in group.report.uplift):
        yield "gain"


def _agreement(group: Group) -> Iterator[str]:
    agreement = group.report.agreement
    for pair in () if agreement is None else (*agreement.pairs, *agreement.people):
        if pair.kappa is not None:
            yield "kappa"
        if pair.kappa_low is not None:
            yield "kappa_interval"
        if pair.kendall_tau is not None:
            yield "kendall"
    for one in () if agreement is None else (*agreement.overall, *agreement.people_overall):
        if one.fleiss_kappa is not None:
            yield "fleiss"
        if one.alpha is not None:
            yield "krippendorff"
