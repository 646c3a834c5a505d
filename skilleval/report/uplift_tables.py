"""The tables that compare arms, as cells of text for every format; foreign text in them is not escaped yet."""

from __future__ import annotations

import dataclasses

from skilleval.report.arms import Assertion, JudgeSpend, Uplift, UpliftCase
from skilleval.report.document import Report
from skilleval.report.numbers import (
    DASH,
    Style,
    count,
    duration,
    money,
    p_text,
    rate,
    signed,
    signed_interval,
)
from skilleval.report.text_table import TextTable, text_table
from skilleval.report.uplift import FINDINGS, rate_pair, seconds_text, usd_text

_FINDING_WORDS = {"no_uplift": "no uplift", "ungraded": "not compared"}
_BASELINE_WORDS = {"without_skill": "without", "old_skill": "old edition"}
_COSTS = {"tokens": "Δ tokens", "seconds": "Δ time", "usd": "Δ cost"}
_SIGNALS = ("only_without", "always_fail", "flaky", "always_pass", "ungraded", "only_with")
_SIGNAL_WORDS = {
    "only_with": "only with",
    "only_without": "only without",
    "always_pass": "always pass",
    "always_fail": "always fail",
}


def uplift_table(report: Report) -> TextTable | None:
    """Give a row a comparison of arms, and nothing where there is none."""
    known = {
        key: any(getattr(one, f"{key}_difference") is not None for one in report.uplift) for key in _COSTS
    }
    costs = [key for key, is_known in known.items() if is_known]
    header = (
        "skill",
        "finding",
        "baseline",
        "cases",
        "with",
        "baseline score",
        "uplift",
        "p",
        "gain",
        "better / same / worse",
    )
    rows = [(*_uplift_row(one), *(_cost_text(one, key) for key in costs)) for one in report.uplift]
    return text_table(
        "uplift",
        title="What the skills add",
        note="Mean score with the skill less that of the baseline, paired over the cases graded in both arms, with its "
        "interval; gain is the share of what the baseline left to gain. Costs are differences a case, of attempts that "
        "completed.",
        header=(*header, *(_COSTS[key] for key in costs)),
        rows=rows,
        texts={0, 1, 2},
    )


def _uplift_row(one: Uplift) -> tuple[str, ...]:
    interval = signed_interval(one.uplift_low, one.uplift_high)
    uplift = signed(one.uplift, Style.RATE)
    return (
        one.name,
        _finding(one),
        _BASELINE_WORDS.get(one.baseline, one.baseline),
        f"{count(one.n_cases)} × {count(one.n_repeats)}",
        rate(one.score_candidate),
        rate(one.score_baseline),
        uplift if interval == DASH else f"{uplift} {interval}",
        p_text(one.p_value).removeprefix("p ").removeprefix("= ") or DASH,
        signed(one.gain, Style.RATE),
        f"{count(one.n_wins)} / {count(one.n_ties)} / {count(one.n_losses)}",
    )


def _cost_text(one: Uplift, key: str) -> str:
    row = dataclasses.asdict(one)
    texts = {
        "tokens": signed(one.tokens_difference, Style.COUNT),
        "seconds": seconds_text(row),
        "usd": usd_text(row),
    }
    return texts[key] or DASH


def _finding(one: Uplift) -> str:
    words = _FINDING_WORDS.get(one.finding, one.finding)
    return f"{FINDINGS.get(one.finding, '')} {words}".strip()


def case_table(report: Report) -> TextTable | None:
    """Give a row a case; the greatest losses first, cases that do not count last."""
    ordered = sorted(report.uplift_cases, key=_by_difference)
    return text_table(
        "cases",
        title="Cases",
        note="Mean score of each case in both arms, with the trials that have one.",
        header=("skill", "baseline", "case", "with", "baseline score", "difference", "remarks"),
        rows=[_case_row(one) for one in ordered],
        texts={0, 1, 2, 6},
    )


def _by_difference(one: UpliftCase) -> tuple[bool, float, str, str]:
    return one.difference is None, one.difference or 0.0, one.skill, one.task_id


def _case_row(one: UpliftCase) -> tuple[str, ...]:
    remarks = [f"left out: {one.left_out}"] if one.left_out else list(one.flags)
    return (
        one.skill,
        _BASELINE_WORDS.get(one.baseline, one.baseline),
        one.task_id,
        rate_pair(one, "candidate"),
        rate_pair(one, "baseline"),
        signed(one.difference, Style.RATE),
        ", ".join(remarks),
    )


def assertion_table(report: Report) -> TextTable | None:
    """Give a row an assertion; what needs a hand comes first."""
    ordered = sorted(report.assertions, key=_by_signal)
    return text_table(
        "assertions",
        title="Assertions",
        note="How often each assertion passed in both arms, with the trials that were graded. One that always passes "
        "in both arms cannot tell a skill from none.",
        header=("skill", "baseline", "case", "assertion", "with", "baseline rate", "signal", "advice"),
        rows=[_assertion_row(one) for one in ordered],
        texts={0, 1, 2, 3, 6, 7},
    )


def _by_signal(one: Assertion) -> tuple[int, str, str, str]:
    place = _SIGNALS.index(one.signal) if one.signal in _SIGNALS else len(_SIGNALS)
    return place, one.skill, one.task_id, one.check_id


def _assertion_row(one: Assertion) -> tuple[str, ...]:
    return (
        one.skill,
        _BASELINE_WORDS.get(one.baseline, one.baseline),
        one.task_id,
        one.check or one.check_id,
        rate_pair(one, "candidate"),
        rate_pair(one, "baseline"),
        _SIGNAL_WORDS.get(one.signal, one.signal),
        one.advice,
    )


def judge_table(report: Report) -> TextTable | None:
    """Give a row a judge × scorer."""
    unpriced = [one.model for one in report.judge_spend if one.cost_usd is None and one.n_calls]
    no_price = (
        f" USD is a dash where no price is known: {', '.join(dict.fromkeys(unpriced))}." if unpriced else ""
    )
    return text_table(
        "judges",
        title="What judging took",
        note="Calls of judges in this run, apart from what the skills took; scores that were taken over cost it "
        f"nothing.{no_price}",
        header=("judge", "scorer", "calls", "unusable", "tokens in", "tokens out", "USD", "time in all"),
        rows=[_judge_row(one) for one in report.judge_spend],
        texts={0, 1},
    )


def _judge_row(one: JudgeSpend) -> tuple[str, ...]:
    return (
        one.model,
        one.scorer,
        count(one.n_calls),
        count(one.n_failed),
        count(one.input_tokens),
        count(one.output_tokens),
        money(one.cost_usd),
        duration(one.latency_ms),
    )


def signal_counts(report: Report) -> str:
    """Say how many assertions tell what, e.g. `4 only with · 2 always pass`."""
    counts = {signal: sum(one.signal == signal for one in report.assertions) for signal in _SIGNALS}
    return " · ".join(f"{count(n)} {_SIGNAL_WORDS.get(signal, signal)}" for signal, n in counts.items() if n)
