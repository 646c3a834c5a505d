"""A report that has every part a figure is drawn from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reports import CALCULATOR, FLAKY, WRONG, demo_report, report_of

from skilleval.report.agreement import Agreement, RaterPair
from skilleval.report.arms import Uplift
from skilleval.report.distributions import Distribution, FrontPoint
from skilleval.report.document import MatrixCell, Report

_TIMES = {
    "c-calculator": (12.0, 18.0, 21.3, 30.0),
    "c-flaky": (15.0, 21.3, 800.0, 10000.0),
    "c-wrong": (2.0, 4.0, 9.5),
}
_COSTS = {"c-calculator": (0.002, 0.004, 0.004), "c-flaky": (0.001, 0.002, 0.0021), "c-wrong": (0.01, 0.02)}
_LETTERS = {3: "ppp", 2: "pfp", 1: "fpe", 0: "ffu"}


def distribution(condition_id: str, measure: str, values: tuple[float, ...], **more: Any) -> Distribution:
    """Give the distribution of a few values."""
    n = len(values)
    told: dict[str, Any] = {"n": n, "n_censored": 0, "mean": sum(values) / n, **more}
    return Distribution(
        condition_id=condition_id,
        measure=measure,
        unit="ms" if measure == "latency_ms" else "USD",
        shares=tuple((place + 1) / n for place in range(n)),
        values=values,
        **told,
    )


def front_point(condition_id: str, measure: str, value: float, *beaten_by: str) -> FrontPoint:
    """Give where a condition stands for the scorer `task`."""
    return FrontPoint(
        condition_id=condition_id,
        scorer="task",
        measure=measure,
        value=value,
        is_on_front=not beaten_by,
        dominated_by=beaten_by,
    )


def rater_pair(rater_a: str, rater_b: str, kappa: float | None, **more: Any) -> RaterPair:
    """Give a pair of scorers with a kappa, which has an interval of 0.2 on both sides."""
    ends = (None, None) if kappa is None else (max(kappa - 0.2, -1.0), min(kappa + 0.2, 1.0))
    told: dict[str, Any] = {"kappa": kappa, "kappa_low": ends[0], "kappa_high": ends[1], **more}
    return RaterPair(
        rater_a=rater_a,
        rater_b=rater_b,
        n_both=40,
        n_both_passed=20,
        n_only_a=3,
        n_only_b=2,
        n_both_failed=15,
        n_one_ungraded=0,
        percent_agreement=0.875,
        **told,
    )


def told(cell: MatrixCell) -> MatrixCell:
    """Add the outcomes of the repeats to a cell of three."""
    return replace(cell, outcomes=_LETTERS[cell.n_passed])


def drawn_report() -> Report:
    """Build the report of three skills that has something for every figure."""
    demo = demo_report()
    latency = [distribution(name, "latency_ms", values) for name, values in _TIMES.items()]
    cost = [distribution(name, "cost_usd", values) for name, values in _COSTS.items()]
    ends = {"p50_ms_ci_low": 18.0, "p50_ms_ci_high": 25.0}
    summary = report_of(CALCULATOR | ends, FLAKY, WRONG).summary
    fronts = (
        front_point("c-calculator", "p50_ms", 21.3),
        front_point("c-flaky", "p50_ms", 30.0, "c-calculator"),
        front_point("c-wrong", "p50_ms", 4.0),
        front_point("c-calculator", "mean_cost_usd", 0.0033),
        front_point("c-flaky", "mean_cost_usd", 0.0017),
        front_point("c-wrong", "mean_cost_usd", 0.015, "c-calculator", "c-flaky"),
    )
    pairs = (
        rater_pair("task", "judge", 0.74, kendall_tau=1.0),
        rater_pair("contains", "task", 0.41, kendall_tau=0.33),
        rater_pair("contains", "judge", None),
    )
    return replace(
        demo,
        summary=summary,
        matrix=tuple(told(cell) for cell in demo.matrix),
        distributions=(*latency, *cost),
        fronts=fronts,
        agreement=Agreement(raters=("contains", "judge", "task"), n_trials=40, n_left_out=0, pairs=pairs),
        uplift=(uplift("calculator", 0.31, 0.1, 0.5), uplift("wrong-calculator", -0.12, -0.3, 0.08)),
    )


def uplift(skill_id: str, value: float, low: float, high: float) -> Uplift:
    """Give what one skill adds to a model without it."""
    return Uplift(
        skill_id=skill_id,
        skill_version="1.0.0",
        scorer="task",
        baseline="without_skill",
        finding="helps" if low > 0 else "inconclusive",
        name=skill_id,
        n_cases=4,
        score_candidate=0.5 + value,
        score_baseline=0.5,
        uplift=value,
        uplift_low=low,
        uplift_high=high,
    )
