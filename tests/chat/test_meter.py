from __future__ import annotations

from typing import Any

import pytest

from skilleval.chat.base import Completion
from skilleval.chat.meter import Meter, Role
from skilleval.domain.attempts import Status, Usage
from skilleval.errors import ConfigError


def _done(usd: float | None = 0.01, n_input: int | None = 100, n_output: int | None = 20, **more: Any) -> Any:
    usage = Usage(input_tokens=n_input, output_tokens=n_output, cost_usd=usd, **more)
    return Completion(status=Status.COMPLETED, model="m", request="{}", text="x", usage=usage)


def _failed(status: Status) -> Completion:
    return Completion(status=status, model="m", request="{}")


def test_subject_and_judge_are_counted_apart() -> None:
    """What judging costs is not the subject's."""
    meter = Meter(usd=None, tokens=None)
    meter.count(_done(cached_tokens=50), Role.SUBJECT)
    meter.count(_done(0.5, 7, 1), Role.JUDGE)
    meter.count(_done(0.5, 7, 1), Role.JUDGE)
    subject, judge = meter.of(Role.SUBJECT), meter.of(Role.JUDGE)
    assert (subject.n_calls, subject.cost_usd, subject.tokens, subject.cached_tokens) == (1, 0.01, 120, 50)
    assert (judge.n_calls, judge.cost_usd, judge.tokens) == (2, 1.0, 16)
    assert not meter.is_spent
    assert meter.reason is None


def test_a_budget_of_money_is_spent_by_both() -> None:
    """Subject and judge pay from one purse; the sentence says how much of how much."""
    meter = Meter(usd=0.02, tokens=None)
    meter.count(_done(0.0113), Role.SUBJECT)
    assert not meter.is_spent
    meter.count(_done(0.01), Role.JUDGE)
    assert meter.is_spent
    assert meter.reason == "budget.usd: 0.0213 of 0.02 spent"


def test_a_budget_stops_what_is_still_to_begin() -> None:
    """A budget that is reached with the last call has stopped nothing; who asks after that is told so, and counted."""
    meter = Meter(usd=0.02, tokens=None)
    assert not meter.stops()
    meter.count(_done(0.02), Role.SUBJECT)
    assert (meter.is_spent, meter.has_stopped) == (True, False)
    assert meter.stops()
    assert meter.has_stopped


def test_a_budget_of_tokens_is_spent_in_and_out() -> None:
    """Tokens in and out count, and a lone total as much."""
    meter = Meter(usd=None, tokens=300)
    meter.count(_done(None), Role.SUBJECT)
    assert not meter.is_spent
    meter.count(_done(None, None, None, total_tokens=180), Role.SUBJECT)
    assert meter.reason == "budget.tokens: 300 of 300 spent, besides 1 call of unknown size"


def test_a_call_of_unknown_cost_is_counted_as_unknown() -> None:
    """It is not 0 dollars: the sentence says that there were such calls."""
    meter = Meter(usd=0.01, tokens=None)
    meter.count(_done(None), Role.SUBJECT)
    meter.count(_failed(Status.TIMEOUT), Role.SUBJECT)
    meter.count(_failed(Status.PROVIDER_ERROR), Role.SUBJECT)
    meter.count(_done(), Role.SUBJECT)
    assert meter.reason == "budget.usd: 0.01 of 0.01 spent, besides 2 calls of unknown cost"
    assert (meter.of(Role.SUBJECT).n_calls, meter.of(Role.SUBJECT).n_unknown_cost) == (4, 2)


def test_a_resumed_run_goes_on_with_what_was_spent() -> None:
    """Earlier sessions count for the budget, and for no role of this one."""
    meter = Meter(usd=0.02, tokens=1000)
    meter.start(usd=0.015, tokens=900)
    assert not meter.is_spent
    meter.count(_done(0.001), Role.SUBJECT)
    assert meter.reason == "budget.tokens: 1020 of 1000 spent"
    assert meter.of(Role.SUBJECT).tokens == 120


def test_a_budget_that_was_spent_before_is_spent() -> None:
    """Resuming without a larger budget begins nothing."""
    meter = Meter(usd=0.02, tokens=None)
    meter.start(usd=0.02, tokens=0)
    assert meter.is_spent


def test_a_budget_of_money_needs_a_price() -> None:
    """An unknown price is an error before the first trial, with the three ways out."""
    with pytest.raises(ConfigError) as caught:
        Meter(usd=1.0, tokens=None).check("mystery", is_priced=False)
    (problem,) = caught.value.problems
    assert problem.key == "budget.usd"
    for way in ("model.price", "pricing.overrides", "budget.tokens"):
        assert way in problem.hint
    Meter(usd=1.0, tokens=None).check("mystery", is_priced=True)
    Meter(usd=None, tokens=5).check("mystery", is_priced=False)
