from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_clock import SimulatedClock

from skilleval.chat.limits import Limiter


def _limiter(clock: SimulatedClock, *, requests: float | None = None, tokens: float | None = None) -> Limiter:
    return Limiter(requests_per_minute=requests, tokens_per_minute=tokens, clock=clock)


def _times(clock: SimulatedClock, limiter: Limiter, sizes: list[float]) -> list[tuple[int, float]]:
    """Let all ask at once; give who was let through when, in that order."""
    through: list[tuple[int, float]] = []

    async def one(index: int, tokens: float) -> None:
        await limiter.admit(tokens)
        through.append((index, clock.now))

    async def all_at_once() -> None:
        await asyncio.gather(*(one(index, tokens) for index, tokens in enumerate(sizes)))

    clock.run(all_at_once())
    return through


def test_without_limits_nobody_waits(simulated: SimulatedClock) -> None:
    """Null is no limit."""
    assert _times(simulated, _limiter(simulated), [9.0] * 3) == [(0, 0.0), (1, 0.0), (2, 0.0)]


def test_no_minute_sees_more_requests_than_allowed(simulated: SimulatedClock) -> None:
    """Two a minute: the third waits until the first is a minute old; whoever came first goes first."""
    through = _times(simulated, _limiter(simulated, requests=2), [0.0] * 5)
    assert through == [(0, 0.0), (1, 0.0), (2, 60.0), (3, 60.0), (4, 120.0)]


def test_half_a_request_a_minute_is_one_in_two(simulated: SimulatedClock) -> None:
    """Limits below one are no deadlock."""
    assert _times(simulated, _limiter(simulated, requests=0.5), [0.0] * 2) == [(0, 0.0), (1, 120.0)]


def test_no_minute_sees_more_tokens_than_allowed(simulated: SimulatedClock) -> None:
    """A small request does not overtake a large one that came before it."""
    through = _times(simulated, _limiter(simulated, tokens=100), [60.0, 60.0, 40.0, 1.0])
    assert through == [(0, 0.0), (1, 60.0), (2, 60.0), (3, 120.0)]


def test_a_request_larger_than_the_limit_is_let_through_alone(simulated: SimulatedClock) -> None:
    """It would wait for ever otherwise: the provider has to say whether it takes it."""
    through = _times(simulated, _limiter(simulated, tokens=100), [500.0, 1.0, 500.0])
    assert through == [(0, 0.0), (1, 60.0), (2, 120.0)]


def test_both_limits_hold(simulated: SimulatedClock) -> None:
    """Whichever is reached first decides."""
    through = _times(simulated, _limiter(simulated, requests=2, tokens=100), [90.0, 90.0, 5.0, 5.0])
    assert through == [(0, 0.0), (1, 60.0), (2, 60.0), (3, 120.0)]


def test_usage_takes_the_place_of_the_estimate(simulated: SimulatedClock) -> None:
    """A call that took less than feared makes room at once, one that took more takes it away."""
    limiter = _limiter(simulated, tokens=100)
    through: list[float] = []

    async def scene() -> None:
        await limiter.admit(90.0)
        waiting = asyncio.create_task(limiter.admit(50.0))
        await simulated.sleep(5)
        limiter.settle(90.0, 20)
        await waiting
        through.append(simulated.now)
        limiter.settle(50.0, 200)
        await limiter.admit(1.0)
        through.append(simulated.now)

    simulated.run(scene())
    assert 5 <= through[0] <= 5.5
    assert through[1] == pytest.approx(through[0] + 60)


def test_usage_that_is_not_known_leaves_the_estimate(simulated: SimulatedClock) -> None:
    """Nothing is as good as free."""
    limiter = _limiter(simulated, tokens=100)

    async def scene() -> None:
        await limiter.admit(90.0)
        limiter.settle(90.0, None)
        limiter.settle(1234.0, 5)  # nobody was let through with this estimate
        await limiter.admit(50.0)

    simulated.run(scene())
    assert simulated.now == 60.0


def test_whoever_gives_up_waiting_holds_nobody_up(simulated: SimulatedClock) -> None:
    """A cancelled trial leaves the queue."""
    limiter = _limiter(simulated, requests=1)

    async def scene() -> None:
        await limiter.admit(0)
        impatient = asyncio.create_task(limiter.admit(0))
        patient = asyncio.create_task(limiter.admit(0))
        await simulated.sleep(1)
        impatient.cancel()
        await patient

    simulated.run(scene())
    assert simulated.now == 60.0


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.floats(0, 300), min_size=1, max_size=8),
    requests=st.floats(0.3, 5),
    tokens=st.floats(50, 400),
)
def test_the_limits_are_a_law(sizes: list[float], requests: float, tokens: float) -> None:
    """No window of a minute holds more than is allowed, but for one request alone; the order is kept."""
    clock = SimulatedClock()
    through = _times(clock, _limiter(clock, requests=requests, tokens=tokens), sizes)
    assert [index for index, _ in through] == list(range(len(sizes)))
    for start in {at for _, at in through}:
        inside = [sizes[index] for index, at in through if start <= at < start + 60 - 1e-6]
        assert len(inside) <= max(1, requests)
        assert len(inside) == 1 or sum(inside) <= tokens + 1e-6
