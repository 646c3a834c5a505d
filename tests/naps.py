"""Sleepers that can be told from all others: how tests see whether a process was left alive."""

from __future__ import annotations

import itertools
import os
import signal
import time
from pathlib import Path

_numbers = itertools.count()


class Nap:
    """A length of sleep that no other process uses, so that its sleepers are found without the code under test."""

    def __init__(self) -> None:
        self.seconds = f"30.{os.getpid():07d}{next(_numbers):03d}"

    def sleepers(self) -> list[int]:
        """Give the living processes whose command line holds it."""
        return [int(file.parent.name) for file in Path("/proc").glob("[0-9]*/cmdline") if self._is_in(file)]

    def wait_for(self, n_sleepers: int) -> None:
        """Wait until so many sleep."""
        deadline = time.monotonic() + 60
        while len(self.sleepers()) < n_sleepers:
            assert time.monotonic() < deadline, "the program under test did not start its sleepers"
            time.sleep(0.01)

    def wake(self) -> list[int]:
        """End all sleepers and give who they were."""
        left = self.sleepers()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return left

    def _is_in(self, file: Path) -> bool:
        try:
            return self.seconds.encode() in file.read_bytes()
        except OSError:
            return False
