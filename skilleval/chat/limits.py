"""Limits of requests and tokens per minute: who waits for what, in the order they came."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from skilleval.clock import Clock

_MINUTE_S = 60.0
_NAP_S = 0.5
"""How long to wait at most before looking again: a call that took fewer tokens than estimated makes room early."""


@dataclass(slots=True)
class _Admission:
    """A request that was let through; its tokens are an estimate until it is settled."""

    at: float
    tokens: float
    is_settled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """So many requests, or tokens, in any so many seconds."""

    most: float
    seconds: float
    is_of_tokens: bool

    def free_at(self, now: float, admitted: Iterable[_Admission], tokens: float) -> float:
        """Say when there is room; who wants more than there can ever be waits until the window is empty."""
        inside = [(one.at, self._amount(one.tokens)) for one in admitted if one.at > now - self.seconds]
        total = sum(amount for _, amount in inside) + self._amount(tokens)
        free_at = now
        for at, amount in inside:
            if total <= self.most:
                break
            total -= amount
            free_at = at + self.seconds
        return free_at

    def _amount(self, tokens: float) -> float:
        return tokens if self.is_of_tokens else 1.0


class Limiter:
    """Lets requests through, first come, first served, so that no minute sees more than is allowed.

    Nothing is held while a call is under way: a trial that has been let through can wait here for its judge.
    """

    def __init__(
        self, *, requests_per_minute: float | None, tokens_per_minute: float | None, clock: Clock
    ) -> None:
        self._clock = clock
        self._windows = tuple(_windows(requests_per_minute, tokens_per_minute))
        self._admitted: deque[_Admission] = deque()
        self._turn = asyncio.Lock()  # wakes waiters in the order they came

    async def admit(self, tokens: float) -> None:
        """Wait until a request of about so many tokens may be made, behind all that wait already."""
        if not self._windows:
            return
        async with self._turn:
            while (wait_s := self._wait_s(tokens)) > 0:
                await self._clock.sleep(min(wait_s, _NAP_S))
            self._admitted.append(_Admission(self._clock.monotonic(), tokens))

    def settle(self, estimate: float, tokens: float | None) -> None:
        """Put what a call took in place of its estimate; where that is not known, the estimate stays."""
        for admission in self._admitted:
            if not admission.is_settled and admission.tokens == estimate:
                admission.is_settled = True
                admission.tokens = estimate if tokens is None else tokens
                return

    def _wait_s(self, tokens: float) -> float:
        now = self._clock.monotonic()
        horizon = now - max(window.seconds for window in self._windows)
        while self._admitted and self._admitted[0].at <= horizon:
            self._admitted.popleft()
        return max(window.free_at(now, self._admitted, tokens) for window in self._windows) - now


def _windows(requests_per_minute: float | None, tokens_per_minute: float | None) -> Iterable[_Window]:
    if requests_per_minute is not None:
        # Half a request a minute is one in two minutes; of one and a half, one may be in any minute.
        seconds = max(_MINUTE_S, _MINUTE_S / requests_per_minute)
        yield _Window(most=max(1, int(requests_per_minute)), seconds=seconds, is_of_tokens=False)
    if tokens_per_minute is not None:
        yield _Window(most=tokens_per_minute, seconds=_MINUTE_S, is_of_tokens=True)
