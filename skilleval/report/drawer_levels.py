"""How much of a trial the page carries: level after level less, until the page keeps to its size."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How many characters of a text are kept of passed and of other trials, and how many parts of each list.

    `names` is the longest name: of a task, a check, a tool.
    """

    passed: int
    failed: int
    parts: int = 1000
    names: int = 120


LEVELS = (
    Level(passed=4000, failed=4000),
    Level(passed=1000, failed=4000),
    Level(passed=300, failed=4000),
    Level(passed=300, failed=1000),
    Level(passed=80, failed=1000),
    Level(passed=80, failed=300, parts=50),
    Level(passed=80, failed=80, parts=20),
    Level(passed=20, failed=80, parts=6),
    Level(passed=20, failed=20, parts=3, names=40),
    Level(passed=0, failed=0, parts=1, names=20),
)
"""Passed trials are cut first: those that did not pass are what a reader opens."""
