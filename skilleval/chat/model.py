"""A model as the run asks it: its provider with parameters, limits, prices and the meter around it."""

from __future__ import annotations

import random
from dataclasses import replace

from skilleval.chat.base import ChatRequest, Completion, Located, Provider, Ready
from skilleval.chat.contract import sound
from skilleval.chat.limits import Limiter
from skilleval.chat.meter import Meter, Role
from skilleval.chat.options import ModelOptions
from skilleval.chat.pricing import PriceTable
from skilleval.clock import Clock
from skilleval.domain.attempts import Usage
from skilleval.domain.hashes import content_hash

_NO_MATTER = {"requests_per_minute", "tokens_per_minute", "retries", "price", "api_key_env"}
_CHARACTERS_PER_TOKEN = 4
_BACKOFF_BASE_S = 1.0
_BACKOFF_MAX_S = 30.0
_JITTER = 0.5  # the share of a pause that is random


class ChatModel:
    """Asks a provider. The same model for another role shares provider and limits, and is counted apart."""

    def __init__(  # noqa: PLR0913 - the five parts of it, and what may be shared
        self,
        provider: Provider,
        options: ModelOptions,
        prices: PriceTable,
        meter: Meter,
        clock: Clock,
        *,
        role: Role = Role.SUBJECT,
        limiter: Limiter | None = None,
    ) -> None:
        self._provider = provider
        self._endpoint = provider.endpoint if isinstance(provider, Located) else None
        self._options = options
        self._prices = prices
        self._meter = meter
        self._clock = clock
        self._role = role
        self._limiter = limiter or Limiter(
            requests_per_minute=options.requests_per_minute,
            tokens_per_minute=options.tokens_per_minute,
            clock=clock,
        )

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._provider.model

    @property
    def endpoint(self) -> str | None:
        """Where the model is asked; null where its provider does not say."""
        return self._endpoint

    @property
    def identity(self) -> str:
        """A hash of all that decides about its answers; limits, retries and prices do not."""
        options = self._options.model_dump(mode="json", exclude=_NO_MATTER)
        return content_hash(self.endpoint, options)

    def for_role(self, role: Role) -> ChatModel:
        """Give the very same model, asked for somebody else."""
        return ChatModel(
            self._provider,
            self._options,
            self._prices,
            self._meter,
            self._clock,
            role=role,
            limiter=self._limiter,
        )

    def check(self) -> None:
        """Make sure before the first trial that the model can be asked, and that the budget can be kept.

        What has to be loaded is loaded here, so that no call has to wait for it.

        Raises:
            SkillevalError: what is missing, and how to mend it.
        """
        if isinstance(self._provider, Ready):
            self._provider.check()
        is_priced = self._prices.known(self.model, self.endpoint, own=self._options.price)
        self._meter.check(self.model, is_priced=is_priced)

    async def admit(self, request: ChatRequest) -> None:
        """Wait until the limits let the request through; nothing is held after."""
        await self._limiter.admit(_estimated_tokens(self._with_params(request)))

    async def ask(self, request: ChatRequest, *, timeout_s: float) -> Completion:
        """Ask once; the completion has its price, and the meter has counted it."""
        asked = self._with_params(request)
        completion = sound(await self._provider.complete(asked, timeout_s=timeout_s), model=self.model)
        self._limiter.settle(_estimated_tokens(asked), _tokens(completion.usage))
        priced = self._priced(completion)
        self._meter.count(priced, self._role)
        return priced

    async def consult(self, request: ChatRequest, *, timeout_s: float) -> Completion:
        """Wait for the limits and ask; again after a failure that may pass, as often as `retries` says."""
        rng = random.Random(request.seed)  # noqa: S311 - spreads retries; no secret
        n_retries = 0
        while True:
            await self.admit(request)
            completion = await self.ask(request, timeout_s=timeout_s)
            if not completion.retryable or n_retries == self._options.retries:
                return completion
            await self._clock.sleep(_pause_s(n_retries, completion, rng))
            n_retries += 1

    async def aclose(self) -> None:
        """Give back the connections of the provider, which may be shared: closing again does no harm."""
        await self._provider.aclose()

    def _with_params(self, request: ChatRequest) -> ChatRequest:
        """Add the parameters of the model; what the request says itself wins."""
        return replace(request, params={**self._options.params, **request.params})

    def _priced(self, completion: Completion) -> Completion:
        """Add the total and the cost, where the provider has not told them itself."""
        usage = replace(completion.usage, total_tokens=_tokens(completion.usage))
        if usage.cost_usd is None:
            cost_usd = self._prices.cost_usd(self.model, self.endpoint, usage, own=self._options.price)
            usage = replace(usage, cost_usd=cost_usd)
        return replace(completion, usage=usage)


def _estimated_tokens(request: ChatRequest) -> float:
    """Estimate what a request will take; an answer takes at most what it is allowed."""
    said = (request.params.get(name) for name in ("max_completion_tokens", "max_tokens"))
    allowed: int = next((value for value in said if isinstance(value, int)), 0)
    return request.n_characters / _CHARACTERS_PER_TOKEN + allowed


def _tokens(usage: Usage) -> int | None:
    if usage.total_tokens is not None:
        return usage.total_tokens
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


def _pause_s(n_retries: int, completion: Completion, rng: random.Random) -> float:
    """Give the pause before the next retry; what the provider asks for wins where it is longer."""
    full = min(_BACKOFF_BASE_S * 2.0**n_retries, _BACKOFF_MAX_S)
    return max(full * (1 - _JITTER * rng.random()), completion.retry_after_s or 0.0)
