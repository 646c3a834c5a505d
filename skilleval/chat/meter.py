"""The meter of a run: what subjects and judges have taken, and whether the budget is spent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skilleval.chat.base import Completion
from skilleval.domain.attempts import Status, Usage
from skilleval.errors import ConfigError, Problem

_BILLED = frozenset({Status.COMPLETED, Status.TIMEOUT})  # what timed out here may have been answered there


class Role(StrEnum):
    """For whom a model is asked."""

    SUBJECT = "subject"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was taken; `n_unknown_cost` and `n_unknown_tokens` count the calls whose share nobody told."""

    n_calls: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    n_unknown_cost: int = 0
    n_unknown_tokens: int = 0

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Spent) -> Spent:
        """Give both together."""
        return Spent(
            n_calls=self.n_calls + other.n_calls,
            cost_usd=self.cost_usd + other.cost_usd,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            n_unknown_cost=self.n_unknown_cost + other.n_unknown_cost,
            n_unknown_tokens=self.n_unknown_tokens + other.n_unknown_tokens,
        )


NOTHING = Spent()


class Meter:
    """Counts every completion of a run.

    A budget is spent once what is known reaches it. Calls under way are not taken back, so it can be passed by them.
    """

    def __init__(self, *, usd: float | None, tokens: int | None) -> None:
        self._usd = usd
        self._tokens = tokens
        self._before = NOTHING
        self._spent = dict.fromkeys(Role, NOTHING)
        self._has_stopped = False

    def start(self, *, usd: float, tokens: int) -> None:
        """Begin with what earlier sessions of the run took: it counts for the budget, and for no role."""
        self._before = Spent(cost_usd=usd, output_tokens=tokens)

    def of(self, role: Role) -> Spent:
        """Give what one role has taken in this session."""
        return self._spent[role]

    def count(self, completion: Completion, role: Role) -> None:
        """Count a completion, also one that failed."""
        self._spent[role] += _share(completion)

    @property
    def is_spent(self) -> bool:
        """Has a budget been reached?"""
        return self.reason is not None

    def stops(self) -> bool:
        """Say whether a trial that is about to begin may not; that one was stopped is remembered."""
        self._has_stopped = self._has_stopped or self.is_spent
        return self._has_stopped

    @property
    def has_stopped(self) -> bool:
        """Whether a trial was not begun because a budget had been reached."""
        return self._has_stopped

    @property
    def reason(self) -> str | None:
        """Which budget is spent, e.g. `budget.usd: 0.0213 of 0.02 spent`; null while none is."""
        if self._usd is None and self._tokens is None:
            return None  # asked before each trial: nothing is added up where nothing can be spent
        total = sum(self._spent.values(), self._before)
        if self._usd is not None and total.cost_usd >= self._usd:
            said = f"budget.usd: {total.cost_usd:.4g} of {self._usd:g} spent"
            return said + _besides(total.n_unknown_cost, "cost")
        if self._tokens is not None and total.tokens >= self._tokens:
            said = f"budget.tokens: {total.tokens} of {self._tokens} spent"
            return said + _besides(total.n_unknown_tokens, "size")
        return None

    def check(self, model: str, *, is_priced: bool) -> None:
        """Make sure before the first trial that a budget of money can be kept.

        Raises:
            ConfigError: nobody knows what the model costs.
        """
        if self._usd is None or is_priced:
            return
        hint = f"give model.price or pricing.overrides.{model}, or set budget.tokens instead"
        problem = Problem(
            where="config",
            key="budget.usd",
            expected=f"a known price of {model}",
            found="none for this model where it is asked",
            hint=hint,
        )
        raise ConfigError("the budget cannot be kept", problems=(problem,))


def _share(completion: Completion) -> Spent:
    usage, is_billed = completion.usage, completion.status in _BILLED
    n_input, n_output = _known_tokens(usage)
    return Spent(
        n_calls=1,
        cost_usd=usage.cost_usd or 0.0,
        input_tokens=n_input,
        output_tokens=n_output,
        cached_tokens=usage.cached_tokens or 0,
        n_unknown_cost=int(is_billed and usage.cost_usd is None),
        n_unknown_tokens=int(is_billed and None in {usage.input_tokens, usage.output_tokens}),
    )


def _known_tokens(usage: Usage) -> tuple[int, int]:
    """Give what is known; of a lone total the rest counts as output."""
    n_input, n_output = usage.input_tokens or 0, usage.output_tokens or 0
    return n_input, max(n_output, (usage.total_tokens or 0) - n_input)


def _besides(n_unknown: int, what: str) -> str:
    if not n_unknown:
        return ""
    return f", besides {n_unknown} call{'s' if n_unknown > 1 else ''} of unknown {what}"
