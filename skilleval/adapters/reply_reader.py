"""Finds the reply to one request in what a program prints piece by piece while it goes on running."""

from __future__ import annotations

from skilleval.adapters.jsonrpc import ONLY_ID, RpcReply, find_reply, reply_id, whole_reply
from skilleval.adapters.text import decoded

_MARK = b'"jsonrpc"'
_TAIL_BUDGET = 4_000_000  # bytes of unfinished lines that are read in vain, in whatever pieces they come


class ReplyReader:
    """Looks at each line once, as soon as it is whole, so that the work grows with the length only.

    A reply is a line with whatever around it, or many lines from a lone `{` to a lone `}`, or an unfinished line that
    is a reply already. The first one counts.
    """

    def __init__(self, request_id: int) -> None:
        self.reply: RpcReply | None = None
        self.is_too_deep = False
        self._id = request_id
        self._printed = bytearray()
        self._line = 0
        self._brace: int | None = None
        self._budget = _TAIL_BUDGET

    def __len__(self) -> int:
        """Count the bytes that were printed."""
        return len(self._printed)

    @property
    def printed(self) -> bytes:
        """All that was printed since the request."""
        return bytes(self._printed)

    @property
    def is_over(self) -> bool:
        """Is there nothing more to wait for? A reply that is nested too deeply is none."""
        return self.reply is not None or self.is_too_deep

    @property
    def is_answered(self) -> bool:
        """Does the reply carry the id of the request?"""
        return self.reply is not None and reply_id(self.reply.members, (self._id,)) is not None

    @property
    def misfit(self) -> str | None:
        """Why nobody can tell which request the reply belongs to; an error may be without an id."""
        if self.reply is None or self.is_answered:
            return None
        if self.reply.members.get("id") is not None:
            return f"the reply has the id {ONLY_ID} and not that of the request"
        return None if self.reply.error is not None else "the reply has no id"

    def feed(self, piece: bytes) -> None:
        """Take what was printed next."""
        position = len(self._printed)
        # The line end of the reply before this one may come late: it is no part of what was printed since.
        self._printed += piece if position else piece.lstrip(b"\r\n")
        try:
            while self.reply is None and (end := self._printed.find(b"\n", position)) >= 0:
                start, self._line, position = self._line, end + 1, end + 1
                self.reply = self._in_line(start, end)
            self.reply = self.reply or self._in_tail()
        except RecursionError:
            self.is_too_deep = True

    def keep(self, piece: bytes) -> None:
        """Take what was printed next as evidence only."""
        self._printed += piece

    def look_at_all(self) -> None:
        """Look at everything once more, in whatever layout, when no more is going to come."""
        try:
            self.reply = self.reply or self._found(self.printed)
        except RecursionError:
            self.is_too_deep = True

    def _in_line(self, start: int, end: int) -> RpcReply | None:
        line = bytes(self._printed[start:end])
        match line.rstrip():
            case b"{":
                self._brace = start
            case b"}" if self._brace is not None:
                line = bytes(self._printed[self._brace : end])
                self._brace = None
        return self._found(line)

    def _in_tail(self) -> RpcReply | None:
        if not self._printed.endswith(b"}") or self._budget < 0:
            return None
        is_end = self._brace is not None and len(self._printed) == self._line + 1
        tail = bytes(self._printed[self._brace if is_end else self._line :])
        self._budget -= len(tail)
        return whole_reply(decoded(tail)[0], self._ids) if _MARK in tail else None

    def _found(self, printed: bytes) -> RpcReply | None:
        return find_reply(decoded(printed)[0], self._ids) if _MARK in printed else None

    @property
    def _ids(self) -> tuple[int, int]:
        # Programs that always reply with the only id they know are told apart from those that say nothing.
        return (self._id, ONLY_ID)
