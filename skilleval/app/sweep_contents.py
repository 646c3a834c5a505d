"""Skills and benchmarks that were edited while a sweep ran: what an edit does would look like a setting's effect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from skilleval.results.sweeps import Sweep

_CHOOSING: Final = ("skill_set", "benchmark", "experiment", "paths")
"""Settings that may choose other contents on purpose, by the first part of their name."""


def changed_contents(results: pl.DataFrame, benchmarks: Mapping[int, str], sweep: Sweep) -> Iterator[str]:
    """Name skills and benchmarks of which jobs with the same choice saw different contents.

    `benchmarks` gives the hash of a benchmark's content by job.
    """
    choices = {job.job: _choice(job.settings) for job in sweep.jobs}
    seen: dict[tuple[str, object], set[str]] = defaultdict(set)
    columns = ("job", "skill_id", "mode", "skill_digest")
    for job, skill_id, mode, digest in results.select(columns).unique().sort(columns).iter_rows():
        seen[f"skill {skill_id}", (choices[job], mode)].add(digest)
    for job, digest in benchmarks.items():
        seen["benchmark", choices[job]].add(digest)
    changed = dict.fromkeys(what for (what, _), digests in seen.items() if len(digests) > 1)
    for what in changed:
        yield f"the {what} changed while the sweep ran: what that did is told as if settings had done it"


def _choice(settings: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        sorted((name, value) for name, value in settings.items() if name.partition(".")[0] in _CHOOSING)
    )
