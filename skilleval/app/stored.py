"""Stored runs as frames: the outcomes of one or many, and what their manifests say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.analytics.outcomes import trial_outcomes, with_counted_latency
from skilleval.analytics.spec import AnalysisSpec
from skilleval.app.analyse import analysis_spec, settled
from skilleval.errors import Problem, ResultsError, UsageError
from skilleval.results.find import find_run
from skilleval.results.schema import SCORES, TRIALS
from skilleval.results.store import MANIFEST, scan_table

_MANY = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One stored run: where it is, what its manifest says, and its rows."""

    folder: Path
    manifest: Mapping[str, Any]
    trials: pl.LazyFrame
    scores: pl.LazyFrame
    spec: AnalysisSpec

    @property
    def outcomes(self) -> pl.LazyFrame:
        """What each scorer says of each trial, with the latency that counts."""
        return with_counted_latency(trial_outcomes(self.trials, self.scores), self.spec)


def stored(folder: Path) -> Stored:
    """Open a stored run to read it; what a killed run left is made into tables first.

    Raises:
        ResultsError: it cannot be read, or is still being written.
    """
    manifest = settled(folder)
    with readable(folder):
        return Stored(
            folder=folder,
            manifest=manifest,
            trials=scan_table(folder, TRIALS),
            scores=scan_table(folder, SCORES),
            spec=analysis_spec(manifest),
        )


def stored_runs(references: Sequence[str], store: Path) -> tuple[Stored, ...]:
    """Open the runs that are named (folder, id, part of an id, `latest`), each once.

    Raises:
        UsageError: no run is named.
        ResultsError: one of them is not found, or cannot be read.
    """
    if not references:
        raise UsageError("no run is named", hint="give a run folder, a run id, or `latest`")
    folders = dict.fromkeys(find_run(reference, store) for reference in references)
    return tuple(stored(folder) for folder in folders)


def alike(found: Sequence[Stored]) -> tuple[tuple[Stored, ...], ...]:
    """Group runs by their formulas; the seed of a bootstrap is that of the first run of a group.

    Raises:
        UsageError: two runs on one benchmark follow different formulas.
    """
    groups: list[list[Stored]] = []
    for one in found:
        for group in groups:
            if _formulas(group[0], one.spec.seed) == one.spec:
                group.append(one)
                break
            if _benchmark(group[0]) == _benchmark(one):
                raise _different(group[0], one)
        else:
            groups.append([one])
    return tuple(tuple(group) for group in groups)


def _formulas(one: Stored, seed: int) -> AnalysisSpec:
    return replace(one.spec, seed=seed)


def _benchmark(one: Stored) -> tuple[str, str]:
    about = one.manifest["benchmark"]
    return about["id"], about["version"]


def _different(first: Stored, other: Stored) -> UsageError:
    names = [field.name for field in fields(AnalysisSpec) if field.name != "seed"]
    differing = [name for name in names if getattr(first.spec, name) != getattr(other.spec, name)]
    problem = Problem(
        where=str(other.folder),
        key=f"analysis: {', '.join(differing)}",
        expected=f"as in {first.folder.name}",
        found="something else",
        hint="give the runs one by one, or score one again with the settings of the other",
    )
    return UsageError("the runs follow different formulas", problems=(problem,))


def outcomes_of(found: Sequence[Stored]) -> pl.LazyFrame:
    """Put the outcomes of several runs below each other.

    Grain: one row a trial × scorer of its run.
    """
    return pl.concat([one.outcomes for one in found])


def collected(frame: pl.LazyFrame, *, n_trials: int | None) -> pl.DataFrame:
    """Collect what is computed from this many trials: many of them in streams, which take less memory."""
    return frame.collect(engine="streaming" if (n_trials or 0) >= _MANY else "auto")


@contextmanager
def readable(folder: Path) -> Iterator[None]:
    """Tell what is wrong with a stored run in plain words.

    Raises:
        ResultsError: a table cannot be read, or the manifest lacks a key.
    """
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        msg = f"the tables of {folder} cannot be read: {str(error).splitlines()[0]}"
        raise ResultsError(msg) from None
    except KeyError as error:
        msg = f"{folder / MANIFEST} lacks the key {error}"
        raise ResultsError(msg) from None
