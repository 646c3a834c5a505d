"""What came of one request to a program that serves many."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from skilleval.adapters.jsonrpc import RpcReply
from skilleval.sandboxes.base import Completed

_FORGIVEN_MS = 5000.0  # asking once more must fit into what the runner waits beyond the limit of a call


class Cause(Enum):
    """Why nobody listens any more."""

    NOT_STARTED = "not_started"
    REPLIED = "replied"
    TOO_DEEP = "too_deep"
    TIMED_OUT = "timed_out"
    OUTPUT_LIMIT = "output_limit"
    HUNG_UP = "hung_up"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What came of one request.

    `done` speaks of the program as if it had run for this request alone; its exit code is null while it lives on.
    `spawn_ms` is null where it ran already, after `n_before` other requests. `misfit` says why what was replied
    cannot be told to belong to this request.
    """

    cause: Cause
    done: Completed
    reply: RpcReply | None = None
    misfit: str | None = None
    spawn_ms: float | None = None
    n_before: int = 0

    @property
    def is_forgiven(self) -> bool:
        """Was the program used up by earlier trials? It left in peace, or at a limit that all of them shared."""
        has_left = self.cause is Cause.ENDED and self.reply is None
        is_spent = self.done.exit_code == 0 or self.done.limit is not None
        return has_left and is_spent and self.n_before > 0 and self.done.duration_ms <= _FORGIVEN_MS
