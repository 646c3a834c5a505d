"""Which runs are stored below a folder and how each one stands: read from manifests alone, and nothing is written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from skilleval.app.slicing import at
from skilleval.errors import NoSuchRunError, Problem, ResultsError, UsageError
from skilleval.outcome import ExitCode
from skilleval.report.run_list import SHARDS_TOO, SORTS, Asked, RunEntry, RunState
from skilleval.results.locks import LOCK
from skilleval.results.places import fetch_run, fetch_runs, local_place, shown_place
from skilleval.results.store import MANIFEST, is_live, read_manifest
from skilleval.sharding import is_shard
from skilleval.strict import nearest

_DEPTH = 2
"""How far below the root the folder of a run may lie; as `results.find` looks for them."""
_MAX_BYTES = 64 * 1024 * 1024
_LONGEST = 300
_DAY = len("2026-01-31")
_LINKED_AWAY = "a link leads out of the folder that is shown"
_TEXTS: Final = {
    "experiment": ("experiment",),
    "benchmark_id": ("benchmark", "id"),
    "benchmark_version": ("benchmark", "version"),
}
_REASONS = {
    ExitCode.GATE_NOT_MET: "the gate is not met",
    ExitCode.INFRASTRUCTURE: "the infrastructure failed",
    ExitCode.NOTHING_EVALUATED: "nothing was evaluated",
    ExitCode.BUDGET_SPENT: "the budget is spent",
}

_Signature = tuple[int, int, int]


class RunList:
    """The runs below a folder. What a manifest says is kept until the file changes, so that asking again is cheap."""

    def __init__(self, root: Path) -> None:
        """Look below a folder, or an address on an object store.

        Raises:
            ResultsError: there is no such folder, or the object store cannot be read.
        """
        self.root = local_place(root)
        self.place = shown_place(root)
        if fetch_runs(self.root) is None and not self.root.is_dir():
            msg = f"there is no folder {root}"
            raise ResultsError(msg, hint="name the folder of stored runs, e.g. outputs")
        self._home = self.root.resolve()
        self._known: dict[Path, tuple[_Signature, RunEntry]] = {}
        self._places: dict[str, Path] = {}

    def entries(self) -> list[RunEntry]:
        """Give all runs as they stand now, newest first."""
        folders = self._look()
        found = [self._entry(folder) for folder in folders]
        self._known = {folder: self._known[folder] for folder in folders if folder in self._known}
        return sorted(
            found, key=lambda entry: (entry.started_at or "", entry.run_id, entry.key), reverse=True
        )

    def entry(self, key: str) -> RunEntry:
        """Give one run by its key. Keys are compared, never joined to a path, so none leads out of the folder.

        Raises:
            NoSuchRunError: no run has this key.
            ResultsError: it cannot be read.
        """
        self._look()
        found = self._places.get(key)
        if found is None:
            msg = f"no run {key!r} is stored here"
            raise NoSuchRunError(msg, hint="look at the list of runs: it may have been moved or removed")
        entry = self._entry(found)
        if not entry.is_readable:
            msg = f"{key} cannot be read: {entry.reason}"
            raise ResultsError(msg)
        return entry

    def folder(self, entry: RunEntry) -> Path:
        """Give the folder of a run; one on an object store is fetched first.

        Raises:
            ResultsError: it cannot be fetched.
        """
        folder = self._places[entry.key]
        fetch_run(folder)
        return folder

    def _look(self) -> list[Path]:
        gone = fetch_runs(self.root) or frozenset()
        folders = [one for one in _below(self.root, _DEPTH) if _holds_run(one) and one not in gone]
        self._places = {self._key(folder): folder for folder in folders}
        return folders

    def _key(self, folder: Path) -> str:
        """Name a run by its folder below the root; names that are no UTF-8 are spelled out."""
        return os.fsencode(folder.relative_to(self.root).as_posix()).decode("utf-8", "backslashreplace")

    def _entry(self, folder: Path) -> RunEntry:
        try:
            signature = _signature(folder, self._home)
            known = self._known.get(folder)
            if known is None or known[0] != signature:
                known = (signature, _read(folder, self._key(folder)))
                self._known[folder] = known
            return _running(known[1]) if _is_live(folder) else known[1]
        except (ResultsError, OSError, RecursionError) as error:
            return self._unreadable(folder, error)

    def _unreadable(self, folder: Path, error: Exception) -> RunEntry:
        said = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else said
        shown = reason.replace(f"{folder}{os.sep}", "")
        return RunEntry(key=self._key(folder), run_id=folder.name, state=RunState.UNREADABLE, reason=shown)


def _below(folder: Path, depth: int) -> Iterator[Path]:
    """Give a folder and those below it; one that may not be looked into holds nothing for us."""
    yield folder
    if depth == 0:
        return
    try:
        inside = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())
    except OSError:
        return
    for path in inside:
        yield from _below(Path(path), depth - 1)


def _holds_run(folder: Path) -> bool:
    """Say whether there is a manifest, also a broken one, or rows that have lost theirs."""
    if os.path.lexists(folder / MANIFEST):
        return True
    return os.path.lexists(folder / "trials") and any(folder.glob("trials/part-*"))


def _signature(folder: Path, home: Path) -> _Signature:
    """Say by what a changed manifest is known.

    Raises:
        ResultsError: it is no plain file below the root, or too large for a manifest.
        OSError: it is gone.
    """
    path = folder / MANIFEST
    if not path.resolve().is_relative_to(home):
        raise ResultsError(_LINKED_AWAY)
    if not path.exists():
        msg = f"it has rows, but no {MANIFEST}"
        raise ResultsError(msg)
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        msg = f"{MANIFEST} is no file"
        raise ResultsError(msg)
    if facts.st_size > _MAX_BYTES:
        msg = f"{MANIFEST} is too large to be one"
        raise ResultsError(msg)
    return (facts.st_mtime_ns, facts.st_size, facts.st_ino)


def _is_live(folder: Path) -> bool:
    """Say whether a process is writing a run; a lock that is no plain file holds nobody's word."""
    lock = folder / LOCK
    return lock.is_file() and not lock.is_symlink() and is_live(folder)


def _running(entry: RunEntry) -> RunEntry:
    return RunEntry(
        **{name: getattr(entry, name) for name in RunEntry.__slots__ if name not in {"state", "reason"}},
        state=RunState.RUNNING,
        reason="what it has finished so far is shown",
    )


def _read(folder: Path, key: str) -> RunEntry:
    manifest = read_manifest(folder)
    state, reason = _state(manifest)
    return RunEntry(
        key=key,
        run_id=_text(manifest.get("run_id")) or folder.name,
        state=state,
        reason=reason,
        started_at=_text(manifest.get("started_at")) or None,
        ended_at=_text(manifest.get("ended_at")) or None,
        skills=_names(manifest.get("skills")),
        scorers=tuple(_text(name) for name in _mapping(manifest.get("scorers"))),
        n_trials=_count(at(manifest, ("counts", "trials"))),
        n_planned=_count(manifest.get("n_planned")),
        shard=_count(at(manifest, ("plan", "shard"))) if is_shard(manifest) else None,
        **{name: _text(at(manifest, path)) for name, path in _TEXTS.items()},
    )


def _state(manifest: Mapping[str, Any]) -> tuple[RunState, str]:
    """Say how a run ended, and why where the state alone does not tell."""
    if manifest.get("ended_at") is None:
        return RunState.INTERRUPTED, "it never came to its end"
    code = _count(manifest.get("exit_code"))
    if manifest.get("interrupted") or code == ExitCode.INTERRUPTED:
        return RunState.INTERRUPTED, "it was stopped before its end"
    if code is None:
        return RunState.FINISHED, ""
    if code == ExitCode.OK:
        return (RunState.PASSED if _is_gated(manifest) else RunState.FINISHED), ""
    return RunState.FAILED, next((said for one, said in _REASONS.items() if one == code), f"exit code {code}")


def _is_gated(manifest: Mapping[str, Any]) -> bool:
    """Say whether the exit code judged the skills: without a gate it is 0 even where the report says FAILED."""
    gate = _mapping(at(manifest, ("config", "gate")))
    return gate.get("exit_on_fail") is True or bool(gate.get("rules"))


def _text(value: Any) -> str:
    """Give a text of a manifest, cut where no name of ours would still go on."""
    return value[:_LONGEST] if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _names(skills: Any) -> tuple[str, ...]:
    """Name the skills of a run, each once: several conditions may share one."""
    if not isinstance(skills, list):
        return ()
    return tuple(dict.fromkeys(_text(one.get("id")) for one in skills if isinstance(one, Mapping)))


def chosen(entries: Iterable[RunEntry], asked: Asked) -> list[RunEntry]:
    """Give the runs that are asked for, in the order that is asked for.

    Raises:
        UsageError: there is no such order or state, or a date is none.
    """
    _check(asked)
    found = [entry for entry in entries if _fits(entry, asked)]
    name = asked.sort.removeprefix("-")
    known = [entry for entry in found if _place(entry, name) is not None]
    ordered = sorted(
        known, key=lambda entry: (_place(entry, name), entry.key), reverse=asked.sort.startswith("-")
    )
    return [*ordered, *(entry for entry in found if _place(entry, name) is None)]


def _check(asked: Asked) -> None:
    states = [state.value for state in RunState]
    problems = []
    if asked.sort.removeprefix("-") not in SORTS:
        problems.append(_wrong("sort", asked.sort, SORTS))
    if asked.state and asked.state not in states:
        problems.append(_wrong("state", asked.state, states))
    if asked.shards not in {"", SHARDS_TOO}:
        problems.append(_wrong("shards", asked.shards, [SHARDS_TOO]))
    for name in ("since", "until"):
        day = getattr(asked, name)
        if day and not _is_day(day):
            problems.append(Problem(where=name, expected="a day such as 2026-01-31", found=repr(day)[:80]))
    if problems:
        raise UsageError("runs cannot be chosen so", problems=tuple(problems))


def _wrong(name: str, found: str, known: Sequence[str]) -> Problem:
    expected = f"one of {', '.join(known)}"
    return Problem(
        where=name, expected=expected, found=repr(found)[:80], hint=nearest(found[:80], list(known))
    )


def _is_day(text: str) -> bool:
    from datetime import date

    try:
        return len(text) == _DAY and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _fits(entry: RunEntry, asked: Asked) -> bool:
    day = (entry.started_at or "")[:_DAY]
    return (
        all(word in _words(entry) for word in asked.q.casefold().split())
        and asked.benchmark in {"", entry.benchmark_id}
        and asked.experiment in {"", entry.experiment}
        and asked.state in {"", entry.state.value}
        and (entry.shard is None or asked.shards == SHARDS_TOO)
        and (not asked.skill or asked.skill in entry.skills)
        and (not asked.scorer or asked.scorer in entry.scorers)
        and (not asked.since or asked.since <= day)
        and (not asked.until or (day != "" and day <= asked.until))
    )


def _words(entry: RunEntry) -> str:
    told = (entry.key, entry.run_id, entry.state.value, entry.reason, entry.experiment, entry.benchmark_id)
    return "\n".join((*told, entry.benchmark_version, *entry.skills, *entry.scorers)).casefold()


def _place(entry: RunEntry, name: str) -> Any:
    """Give what a run is put in order by; null, which comes last, where it is not known."""
    places: dict[str, Any] = {
        "started": entry.started_at,
        "run": entry.run_id,
        "state": entry.state.value,
        "experiment": entry.experiment or None,
        "benchmark": entry.benchmark_id or None,
        "skills": entry.skills or None,
        "scorers": entry.scorers or None,
        "trials": entry.n_trials,
    }
    return places[name]
