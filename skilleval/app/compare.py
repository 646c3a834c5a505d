"""Comparing two stored runs or JSON reports: the baseline and the candidate are roles that the user gives."""

from __future__ import annotations

from pathlib import Path

from skilleval.app.diffing import compared, differences, level_of, nothing_shared, read_sides
from skilleval.errors import Problem, UsageError
from skilleval.report.diff_build import build_diff
from skilleval.report.diff_document import Diff

MARGIN = 0.05
"""A change of completion that does not matter, where none is named."""


def compare(  # noqa: PLR0913 - keywords: each is an option of the command
    before: str,
    after: str,
    *,
    store: Path,
    labels: tuple[str, str],
    margin: float = MARGIN,
    strict: bool = False,
) -> Diff:
    """Compare two runs (folder, id, `latest`, `previous`) or JSON reports; the first is the baseline.

    Raises:
        ResultsError: one of them cannot be read, or they share no skill and scorer on one benchmark.
        UsageError: with `strict`, something besides the skills differs.
    """
    one, other = read_sides(before, after, store)
    told = differences(one, other)
    if strict and told:
        problems = tuple(Problem(where="--strict", found=warning) for warning in told)
        hint = "run both alike, or compare without --strict"
        raise UsageError("the runs differ in more than their skills", problems=problems, hint=hint)
    level = level_of(one, other)
    frames = compared(one, other, margin=margin, level=level)
    if not (frames.pairs["side"] == "both").any():
        raise nothing_shared(one, other)
    reports = (one.report, other.report)
    return build_diff(reports, frames, labels=labels, margin=margin, level=level, warnings=told)
