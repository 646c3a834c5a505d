"""What a reader sees of stored runs: reports, comparisons and courses over time, made when asked for, nothing written.

What was made is kept while the files it was made of stay as they are.
"""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from skilleval.app.analyse import analyse
from skilleval.app.compare import compare
from skilleval.app.run_list import RunList
from skilleval.app.snapshot import Signature, linked, signature, snapshot
from skilleval.app.timeline import Timeline, Wanted, timeline
from skilleval.errors import Problem, ResultsError, UsageError
from skilleval.report import WRITERS
from skilleval.report.diff_document import Diff
from skilleval.report.diff_writers import DIFF_WRITERS
from skilleval.report.document import Report
from skilleval.report.run_list import RunEntry, RunState

MOST_IN_COURSE = 50
"""How many runs a course over time shows, the newest: each has to be read."""

_KEPT = 16
_Made = TypeVar("_Made")
_CAME_TO_AN_END = {RunState.PASSED, RunState.FAILED, RunState.FINISHED}


class RunReader:
    """Makes what is shown of the runs of a list. One thing is made at a time: two would only slow each other down."""

    def __init__(self, runs: RunList) -> None:
        self._runs = runs
        self._making = Lock()
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def report(self, entry: RunEntry, name: str) -> str:
        """Write the report of a run in a format.

        Raises:
            UsageError: there is no such format.
            ResultsError: the run cannot be read.
        """
        writer = _known(WRITERS, name)
        return self._remembered(
            ("report", name, entry.state, self._signature(entry)), lambda: writer.render(self._report(entry))
        )

    def diff(self, before: RunEntry, after: RunEntry, name: str) -> str:
        """Compare two runs, and write that in a format.

        Raises:
            UsageError: there is no such format.
            ResultsError: a run cannot be read, or they have nothing in common.
        """
        writer = _known(DIFF_WRITERS, name)
        key = ("diff", name, self._signature(before), self._signature(after))
        return self._remembered(key, lambda: writer.render(self._diff(before, after)))

    def course(self, entries: Sequence[RunEntry], wanted: Wanted) -> Timeline:
        """Tell how skills did over the newest of some runs; neither shards nor runs without an end count.

        Raises:
            ResultsError: none of them counts.
            UsageError: none of them has such a skill, benchmark or scorer.
        """
        ended = [entry for entry in entries if entry.state in _CAME_TO_AN_END and entry.shard is None]
        if not ended:
            hint = "choose others in the list of runs"
            raise ResultsError("none of the chosen runs came to its end", hint=hint)
        newest = sorted(ended, key=lambda entry: entry.started_at or "", reverse=True)[:MOST_IN_COURSE]
        key = ("course", wanted, tuple(self._signature(entry) for entry in newest))
        return self._remembered(key, lambda: self._course(newest, wanted))

    def _remembered(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        with self._making:
            if key in self._kept:
                self._kept.move_to_end(key)
                kept: _Made = self._kept[key]
                return kept
            made = self._kept[key] = make()
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return made

    def _signature(self, entry: RunEntry) -> tuple[str, Signature]:
        return (entry.key, signature(self._runs.folder(entry)))

    def _report(self, entry: RunEntry) -> Report:
        with snapshot(self._runs.folder(entry), root=self._runs.root) as view:
            try:
                report = analyse(view)
            except ResultsError as error:
                raise _renamed(error, {view: entry}) from None
        if entry.state is not RunState.RUNNING:
            return report
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        said = f"the run is still going on: this is what it had finished by {now}"
        provenance = replace(report.provenance, warnings=(said, *report.provenance.warnings))
        return replace(report, provenance=provenance)

    def _diff(self, before: RunEntry, after: RunEntry) -> Diff:
        with ExitStack() as open_ones:
            views = {
                open_ones.enter_context(snapshot(self._runs.folder(entry), root=self._runs.root)): entry
                for entry in (before, after)
            }
            one, other = map(str, views)
            try:
                return compare(one, other, store=self._runs.root, labels=(before.run_id, after.run_id))
            except ResultsError as error:
                raise _renamed(error, views) from None

    def _course(self, entries: Sequence[RunEntry], wanted: Wanted) -> Timeline:
        with tempfile.TemporaryDirectory(prefix="skilleval-") as place:
            views: dict[Path, RunEntry] = {}
            notices = []
            for number, entry in enumerate(entries):
                try:
                    beside = Path(place) / str(number)
                    views[linked(self._runs.folder(entry), beside, root=self._runs.root)] = entry
                except ResultsError as error:
                    notices.append(f"{entry.key} does not count: {error}")
            try:
                found = timeline(Path(place), wanted)
            except ResultsError as error:
                raise _renamed(error, {**views, Path(place): None}) from None
        told = [_named(notice, views) for notice in found.notices]
        return replace(found, notices=(*notices, *told))


def _known(writers: Mapping[str, _Made], name: str) -> _Made:
    """Find a writer of ours by its name alone: what an address says must never import anything.

    Raises:
        UsageError: there is none.
    """
    if name not in writers:
        expected = f"one of {', '.join(writers)}"
        problem = Problem(where="format", expected=expected, found=repr(name)[:80])
        raise UsageError("there is no such format", problems=(problem,))
    return writers[name]


def _renamed(error: ResultsError, views: Mapping[Path, RunEntry | None]) -> ResultsError:
    """Say of a run what was said of the view on it, which is gone."""
    problems = tuple(
        replace(problem, where=_named(problem.where, views), found=_named(problem.found, views))
        for problem in error.problems
    )
    return ResultsError(_named(error.message, views), problems=problems, hint=_named(error.hint, views))


def _named(text: str, views: Mapping[Path, RunEntry | None]) -> str:
    for view, entry in views.items():
        text = text.replace(str(view), entry.key if entry else "the chosen runs")
    return text
