"""Which stored runs count: whole ones that came to their end. What else is there is told, each kind once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilleval.errors import ResultsError
from skilleval.results.find import joining, left_out
from skilleval.results.places import shown_place
from skilleval.results.store import read_manifest
from skilleval.sharding import is_shard

Fits = Callable[[Mapping[str, Any]], bool]


@dataclass(slots=True)
class Uncounted:
    """Runs that do not count. Of shards nothing is said once a run that was joined from them is there."""

    texts: list[str] = field(default_factory=list)
    _shards: dict[str, Path] = field(default_factory=dict)
    _joined: set[str] = field(default_factory=set)
    _in_counted: set[str] = field(default_factory=set)

    def add(self, folder: Path, why: object) -> None:
        """Keep why a run does not count."""
        self.texts.append(f"{shown_place(folder)} does not count: {why}")

    def is_part(self, folder: Path, manifest: Mapping[str, Any]) -> bool:
        """Say whether a run is a shard, and keep that; of any other one, what it was joined from."""
        if is_shard(manifest):
            self._shards[str(manifest.get("run_id"))] = folder
            return True
        self._joined |= _sources(manifest)
        return False

    def note_counted(self, manifest: Mapping[str, Any]) -> None:
        """Keep what a run that counts was joined from; one that was cut short takes the place of nothing."""
        self._in_counted |= _sources(manifest)

    def is_joined(self, manifest: Mapping[str, Any]) -> bool:
        """Say whether another run that counts was joined from this one, so that it would count twice."""
        return str(manifest.get("run_id")) in self._in_counted

    def notices(self) -> tuple[str, ...]:
        """Give everything that is worth saying, when all that was wanted is read."""
        alone = [folder for run_id, folder in self._shards.items() if run_id not in self._joined]
        told = [f"{left_out(len(alone))}; {joining(alone[-1])}"] if alone else []
        return (*self.texts, *told)


def _sources(manifest: Mapping[str, Any]) -> set[str]:
    """Give the ids of the runs that a run was joined from."""
    sources = manifest.get("merged_from") or ()
    return {str(one.get("run_id")) for one in sources if isinstance(one, Mapping)}


def finished_runs(folders: Iterable[Path], fits: Fits, uncounted: Uncounted) -> Iterator[Path]:
    """Give the runs that count and fit, in the order of the folders; manifests alone are read."""
    for folder in folders:
        try:
            manifest = read_manifest(folder)
            if not fits(manifest) or uncounted.is_part(folder, manifest):
                continue
        except ResultsError as error:
            uncounted.add(folder, error)
            continue
        if manifest.get("ended_at") is None or manifest.get("interrupted"):
            uncounted.add(folder, "the run did not come to its end")
            continue
        uncounted.note_counted(manifest)
        yield folder
