"""An adapter for the kill study: every kind of ending there is, the same for a trial in every run."""

from __future__ import annotations

import asyncio
import hashlib

from pydantic import Field

from skilleval.adapters.base import Call
from skilleval.domain.attempts import Reply, Status, Usage
from skilleval.strict import StrictModel

_ENDINGS = (
    *[Status.COMPLETED] * 7,
    Status.SKILL_ERROR,
    Status.TIMEOUT,
    Status.PROVIDER_ERROR,
    Status.SANDBOX_ERROR,
)


class ShakyOptions(StrictModel):
    """`pause_ms` is the longest time that a call takes, so that a kill can meet it half-way."""

    pause_ms: float = Field(ge=0)


class ShakyAdapter:
    """Answers by a hash of the call: right, wrong, null, nothing at all, failed, failed at first."""

    Options = ShakyOptions
    kind = "shaky_adapter:ShakyAdapter"

    def __init__(self, options: ShakyOptions, _sandbox: object = None) -> None:
        self._pause_s = options.pause_ms / 1000

    async def invoke(self, call: Call) -> Reply:
        """Give the ending that the hash of trial and try stands for."""
        dice = hashlib.sha256(f"{call.trial_id}:{call.try_index}".encode()).digest()
        await asyncio.sleep(self._pause_s * dice[0] / 255)
        if dice[1] % 5 == 0:
            return Reply(status=Status.SKILL_ERROR, failure_kind="exit_code", exit_code=3, retryable=True)
        status = _ENDINGS[dice[2] % len(_ENDINGS)]
        if status is not Status.COMPLETED:
            return Reply(status=status, failure_kind="shaken", message=f"dice {dice[2]}", latency_ms=None)
        outputs = ('{"result":1}', '{"result":2}', "null", None)
        return Reply(
            status=status,
            output=outputs[dice[3] % len(outputs)],
            latency_ms=dice[4] / 8,
            stderr="x" * dice[5],
            usage=Usage(input_tokens=dice[6] if dice[6] % 3 else None, cost_usd=dice[7] / 1000),
        )

    async def aclose(self) -> None:
        """Hold nothing."""
