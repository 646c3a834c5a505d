"""The parts of a report that compare the arms of instruction skills, as pure data; see `document`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Uplift:
    """What a skill adds to a baseline (`without_skill` or `old_skill`): means over cases graded in both arms.

    Differences are with the skill (`candidate`) less baseline. `finding` is helps, harms, no_uplift, inconclusive or
    ungraded; `sentence` says it with its figures, `caveats` what limits it.
    """

    skill_id: str
    skill_version: str
    scorer: str
    baseline: str
    finding: str
    name: str = ""
    sentence: str = ""
    caveats: tuple[str, ...] = ()
    baseline_version: str = ""
    adapter: str = ""
    model: str = ""
    n_cases: int = 0
    n_repeats: int = 0
    n_left_out: int = 0
    n_left_out_errors: int = 0
    n_left_out_ungraded: int = 0
    n_not_tried: int = 0
    n_wins: int = 0
    n_ties: int = 0
    n_losses: int = 0
    score_candidate: float | None = None
    score_baseline: float | None = None
    uplift: float | None = None
    uplift_low: float | None = None
    uplift_high: float | None = None
    ci_method: str = ""
    p_value: float | None = None
    p_method: str = ""
    gain: float | None = None
    passed_candidate: float | None = None
    passed_baseline: float | None = None
    passed_uplift: float | None = None
    uplift_discriminating: float | None = None
    n_checks: int = 0
    n_always_pass: int = 0
    tokens_candidate: float | None = None
    tokens_baseline: float | None = None
    tokens_difference: float | None = None
    tokens_ratio: float | None = None
    seconds_candidate: float | None = None
    seconds_baseline: float | None = None
    seconds_difference: float | None = None
    seconds_ratio: float | None = None
    usd_candidate: float | None = None
    usd_baseline: float | None = None
    usd_difference: float | None = None
    usd_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpliftCase:
    """How one task went in both arms; `left_out` says why it does not count, where it does not."""

    skill: str
    baseline: str
    scorer: str
    task_id: str
    n_candidate: int = 0
    n_baseline: int = 0
    score_candidate: float | None = None
    score_baseline: float | None = None
    difference: float | None = None
    outcome: str = ""
    left_out: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """What one check tells of a skill: its pass rate in both arms, its signal, and a line of advice."""

    skill: str
    baseline: str
    scorer: str
    task_id: str
    check_id: str
    check: str
    signal: str
    advice: str
    n_candidate: int = 0
    n_baseline: int = 0
    rate_candidate: float | None = None
    rate_baseline: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSpend:
    """What one judge took for one scorer; null where no call reported it. None of it is the skills'."""

    model: str
    scorer: str
    n_calls: int
    n_failed: int
    n_usage: int = 0
    n_cost: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
