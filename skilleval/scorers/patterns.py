"""Searching text by regular expressions of others, within a time limit and without holding up anybody else."""

from __future__ import annotations

import time
from functools import lru_cache

import regex

_LONGEST_PATTERN = 10_000
"""Characters; compiling is not covered by the time limit of a search, so it is bounded by length."""


class UnusablePatternError(ValueError):
    """A pattern that does not compile or takes too long; the message shows it and says why."""

    def __init__(self, pattern: str, why: str) -> None:
        super().__init__(f"the pattern {_short(pattern)} {why}")


def flags(*, ignore_case: bool, multiline: bool, dotall: bool) -> int:
    """Give the flags that a search is made with."""
    chosen = {regex.IGNORECASE: ignore_case, regex.MULTILINE: multiline, regex.DOTALL: dotall}
    return sum(int(flag) for flag, is_set in chosen.items() if is_set)


class TimedSearch:
    """Searches for patterns; all searches of one instance together have one time limit.

    The global interpreter lock is released while a search runs: call it in a thread, and the rest goes on.
    """

    def __init__(self, timeout_ms: float, flags: int = 0) -> None:
        self._timeout_ms = timeout_ms
        self._deadline = time.monotonic() + timeout_ms / 1000
        self._flags = flags

    def finds(self, pattern: str, text: str) -> bool:
        """Say whether the pattern matches anywhere in the text.

        Raises:
            UnusablePatternError: it does not compile, or the time is over before the answer is known.
        """
        program = compiled(pattern, self._flags)
        left_s = self._deadline - time.monotonic()
        while left_s > 0:
            try:
                return program.search(text, timeout=left_s, concurrent=True) is not None
            except TimeoutError:
                # The library counts the processor time of the whole process, so searches side by side end each other
                # early: what is left of our own time is used for another attempt.
                left_s = self._deadline - time.monotonic()
            except MemoryError:
                raise UnusablePatternError(pattern, "needs too much memory") from None
        raise UnusablePatternError(pattern, f"took longer than {self._timeout_ms:g} ms")


@lru_cache(maxsize=512)
def compiled(pattern: str, flags: int = 0) -> regex.Pattern[str]:
    """Compile a pattern of the library `regex`, inline flags such as `(?i)` included.

    Raises:
        UnusablePatternError: it is no regular expression, or too large to be made one.
    """
    if len(pattern) > _LONGEST_PATTERN:
        raise UnusablePatternError(pattern, f"has more than {_LONGEST_PATTERN} characters")
    try:
        return regex.compile(pattern, flags)
    except (regex.error, ValueError) as error:
        raise UnusablePatternError(pattern, f"does not compile: {error}") from None
    except (RecursionError, OverflowError, MemoryError):
        raise UnusablePatternError(pattern, "is too large to compile") from None


def _short(pattern: str, limit: int = 80) -> str:
    text = repr(pattern)
    return text if len(text) <= limit else f"{text[:limit]}…"
