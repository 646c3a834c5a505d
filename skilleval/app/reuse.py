"""Attempts of earlier runs: which of them this run takes over instead of calling a skill again."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from skilleval.app.prepare import Prepared
from skilleval.app.recordings import Place, StoredPast
from skilleval.config.compose import Composed
from skilleval.domain.hashes import content_hash
from skilleval.domain.trials import Trial
from skilleval.errors import WriteError
from skilleval.results.cache import Circumstances, IndexedRun, indexed_runs, write_index
from skilleval.runner import Past

log = logging.getLogger(__name__)

_OFF, _REUSE = "off", "reuse"
_OWN_AFFAIR = {"cache", "resume"}  # settings of the runner that say nothing about how a skill was called


def past_of(prepared: Prepared) -> Past | None:
    """Find the stored attempts that a run takes over; null where it calls every skill itself.

    Of its own accord a run takes over what other runs of its sweep made under the very same settings of the runner;
    `runner.cache=reuse` asks for all indexed runs with as many retries.
    """
    composed = prepared.composed
    if composed.settings.runner.cache == _OFF or not (asks_for_all(composed) or composed.sweep):
        return None
    cache = Path(composed.settings.paths.cache)
    fitting = (run for run in indexed_runs(cache) if _fits(run.circumstances, composed))
    places = _places(fitting, prepared.trials)
    if not places:
        return None
    log.info("%d of %d attempts are taken over from earlier runs", len(places), len(prepared.trials))
    return StoredPast(prepared.trials, places)


def asks_for_all(composed: Composed) -> bool:
    """Whether the attempts of all earlier runs are wanted."""
    return composed.settings.runner.cache == _REUSE


def _fits(theirs: Circumstances, composed: Composed) -> bool:
    ours = circumstances(composed)
    if asks_for_all(composed):
        return theirs.retries == ours.retries
    return theirs.sweep_id == ours.sweep_id and theirs.runner == ours.runner


def circumstances(composed: Composed) -> Circumstances:
    """Say what the attempts of a run depend on beside their call keys."""
    runner = composed.settings.runner
    return Circumstances(
        sweep_id=composed.sweep.sweep_id if composed.sweep else None,
        retries=runner.retries,
        runner=content_hash(runner.model_dump(exclude=_OWN_AFFAIR)),
    )


def _places(runs: Iterator[IndexedRun], trials: Sequence[Trial]) -> dict[str, Place]:
    """Find each trial's attempt in the newest run that has it."""
    missing = {trial.call_key: trial.trial_id for trial in trials}
    places: dict[str, Place] = {}
    for run in runs:
        if not missing:
            break
        found = run.found(missing)
        if not found or run.is_gone:
            continue
        for call_key, stored_id in found.items():
            place = Place(folder=run.folder, run_id=run.run_id, trial_id=stored_id)
            places[missing.pop(call_key)] = place
    return places


def remember(composed: Composed, folder: Path, manifest: Mapping[str, Any], *, now: datetime) -> None:
    """Index the attempts of a finished run, so that later ones find them; what was redacted is never found.

    A failure is told, but it is none of the run: its results are complete without it.
    """
    if composed.settings.runner.cache == _OFF or n_redacted(manifest) != 0:
        return
    try:
        write_index(Path(composed.settings.paths.cache), folder, circumstances(composed), now=now)
    except WriteError as error:
        log.warning("the attempts of this run are not going to be found again: %s", error.message)


def n_redacted(manifest: Mapping[str, Any]) -> int | None:
    """Say how many places of a run's rows were redacted; null where the run ended too early to know."""
    privacy = manifest.get("privacy") or {}
    counted = privacy.get("n_redacted")
    if counted is None and not privacy.get("redact"):
        return 0
    return None if counted is None else int(counted)
