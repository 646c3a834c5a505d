"""From frames to the report of a sweep: rows as plain values, and the sentences that begin it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skilleval.report.sweep_document import Rows, SweepAbout, SweepMethod, SweepReport
from skilleval.report.sweep_phrases import (
    best_sentence,
    caveats,
    effect_sentences,
    missing_sentence,
    ranking_sentences,
)

if TYPE_CHECKING:
    import polars as pl

PARTS = (
    *("settings", "jobs", "results", "levels", "effects", "interactions", "best"),
    *("ranks", "agreement", "flips", "crossed"),
)


def build_sweep_report(
    *,
    about: SweepAbout,
    method: SweepMethod,
    frames: Mapping[str, pl.DataFrame],
    skipped: Sequence[tuple[str, str]] = (),
    warnings: Sequence[str] = (),
) -> SweepReport:
    """Build the document; `frames` are named by `PARTS`, `skipped` pairs of settings have no interaction."""
    rows: dict[str, Rows] = {name: tuple(frames[name].to_dicts()) for name in PARTS}
    varied = [str(one["name"]) for one in rows["settings"] if len(one["levels"]) > 1]
    choices = tuple(
        str(one["name"]) for one in rows["settings"] if one["is_choice"] and one["name"] in varied
    )
    said = effect_sentences(varied, rows["effects"], method)
    said += [best_sentence(rows["best"], choices), missing_sentence(about, rows["jobs"])]
    lead = [sentence for sentence in said if sentence]
    orders = ranking_sentences(varied, rows["agreement"], rows["flips"])
    limits = caveats(effects=rows["effects"], best=rows["best"], is_planned=about.is_planned, skipped=skipped)
    return SweepReport(
        about=about,
        method=method,
        verdict="; ".join(lead) if lead else "no setting has two levels: there is nothing to compare",
        sentences=(*lead, *orders),
        is_complete=all(job["counts"] for job in rows["jobs"]),
        warnings=(*warnings, *limits),
        **rows,
    )
