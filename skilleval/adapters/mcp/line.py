"""What a connection runs over, as seen from outside the protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from skilleval.adapters.http_reply import Failure

if TYPE_CHECKING:
    from mcp.client import Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What went over a line since the request began, apart from the result itself."""

    n_bytes: int
    n_wrong: int = 0
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None


class Line(Protocol):
    """A way to a server. The SDK speaks over it; what is no message of the protocol is kept for whoever asks why."""

    def opened(self) -> Transport:
        """Connect, for as long as the context lasts."""

    def begin(self) -> None:
        """Begin a request: traffic counts from here on."""

    def give_up(self) -> None:
        """Close without a farewell, when it comes to that: whoever is at the other end has had its time."""

    @property
    def is_open(self) -> bool:
        """Whether another request can be sent."""

    @property
    def traffic(self) -> Traffic:
        """What was heard since the request began."""

    @property
    def failure(self) -> Failure | None:
        """What cut off the talk, in terms of programs or HTTP; complete once the line is closed."""

    @property
    def is_spent(self) -> bool:
        """Whether the other end left in a way that may be owed to earlier requests."""

    def redacted(self, text: str) -> str:
        """Give a text without secrets."""
