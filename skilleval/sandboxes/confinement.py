"""The other side of `confine.py`: what it is told to take away before a program starts, and what its answer means."""

from __future__ import annotations

import marshal
import os
import resource
import sys
from binascii import b2a_base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from skilleval.sandboxes import confine
from skilleval.sandboxes.base import Completed
from skilleval.sandboxes.landlock import Ruleset

_LAUNCHER = (sys.executable, "-I", "-S", str(Path(confine.__file__).absolute()))
_MAX_ANSWER_BYTES = 4096

LIMITS = {
    "core": resource.RLIMIT_CORE,
    "cpu": resource.RLIMIT_CPU,
    "data": resource.RLIMIT_DATA,
    "fsize": resource.RLIMIT_FSIZE,
    "nofile": resource.RLIMIT_NOFILE,
    "nproc": resource.RLIMIT_NPROC,
    "stack": resource.RLIMIT_STACK,
}
"""The resources that can be limited, by the names of `ulimit`: bytes, seconds or a number of things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What a program may not do. `limits` go by the names in `LIMITS`; null means: do not restrict.

    Capabilities and the chance to gain rights are taken in any case, and the program dies with the evaluator.
    """

    limits: Mapping[str, int] = field(default_factory=dict)
    ruleset: Ruleset | None = None
    filter_program: bytes | None = None

    def command_line(
        self, program: tuple[str, ...], *, env: Mapping[str, str], answers: int
    ) -> tuple[str, ...]:
        """Give what is started instead of the program, whose first word is a path.

        `env` is the environment it is started with, `answers` the descriptor that it inherits: see `Answers`.
        """
        ruleset = self.ruleset
        orders = (
            answers,
            os.getpid(),
            {LIMITS[name]: _reachable(LIMITS[name], value) for name, value in self.limits.items()},
            None if ruleset is None else (ruleset.attributes, list(ruleset.exceptions)),
            self.filter_program,
            "LC_CTYPE" not in env,
        )
        return (*_LAUNCHER, b2a_base64(marshal.dumps(orders), newline=False).decode(), *program)


def _reachable(kind: int, value: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


class Answers:
    """The pipe over which the launcher says how far it came; the program itself never holds it.

    Open from before the start; `started` gives back the end that the launcher inherited as `descriptor`.
    """

    def __init__(self) -> None:
        self._reading, self.descriptor = os.pipe()
        os.set_blocking(self._reading, False)
        self._is_ours = True
        self._heard: bytes | None = None

    def started(self) -> None:
        """The launcher runs and has its own copy."""
        if self._is_ours:
            self._is_ours = False
            os.close(self.descriptor)

    def close(self) -> None:
        """Hear the answer, and close both ends."""
        self.started()
        self._hear()
        os.close(self._reading)

    def verdict(self, completed: Completed) -> Completed:
        """Tell a program that ended from one that never ran; asked after its end, also when closed.

        A launcher that was killed before it answered, by a time limit or from outside, leaves it as it was seen.
        """
        answer = self._hear()
        if answer == confine.CONFINED:
            return completed
        if not answer:
            was_killed = completed.exit_code is None or completed.exit_code < 0
            reason = "sandbox_failed: the launcher ended before the program could start"
            return completed if was_killed else replace(completed, exit_code=None, not_started=reason)
        kind = "not_started" if answer.startswith(confine.CONFINED) else "sandbox_failed"
        reason = answer.removeprefix(confine.CONFINED).decode("utf-8", "replace")
        return replace(completed, exit_code=None, not_started=f"{kind}: {reason}")

    def _hear(self) -> bytes:
        if self._heard is None:
            try:
                self._heard = os.read(self._reading, _MAX_ANSWER_BYTES)
            except BlockingIOError:  # somebody could still answer: it is too late for that
                self._heard = b""
        return self._heard
