"""Going on with a stored run: which one, whether its plan is still the same, and what is left to run."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilleval.app.planning import judged_by, judging
from skilleval.app.prepare import Prepared
from skilleval.app.serial import SERIAL, unmeasured
from skilleval.config.compose import Composed, StoredConfig, compose_stored
from skilleval.config.trees import covers, leaves
from skilleval.domain.attempts import Status
from skilleval.domain.hashes import canonical_json, content_hash
from skilleval.domain.trials import Trial
from skilleval.errors import Problem, ResultsError, UsageError
from skilleval.results.find import find_run, runs
from skilleval.results.locks import RunLock, is_locked
from skilleval.results.store import MANIFEST, read_manifest, read_statuses, read_unjudged

_SHOWN = 10
_OF_RUNNER = ("repeats", "seed", "timeout_ms", "isolation", "latency")
_SHAPING = (
    *("skill_set", "benchmark", "adapter", "scorers", "sandbox", "privacy", "plan"),
    *(f"runner.{name}" for name in _OF_RUNNER),
)
"""Settings that may change what is run or what is stored of it."""
_PLACES = ("output_dir", "store")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A stored run that is to be gone on with; `lock` is null where it is only looked at."""

    folder: Path
    manifest: Mapping[str, Any]
    lock: RunLock | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a run still has to do. `kept` and `again` count stored trials by status; `n_missing` were never stored.

    `n_to_measure` of the kept ones await their second call (`runner.latency=serial`). `to_judge` are pending too, but
    only their judge failed: their skill is not called again.
    """

    pending: tuple[Trial, ...]
    kept: Mapping[str, int]
    again: Mapping[str, int]
    n_missing: int
    n_to_measure: int = 0
    to_judge: tuple[Trial, ...] = ()

    @property
    def n_kept(self) -> int:
        """How many trials stay as they are."""
        return sum(self.kept.values())

    def facts(self) -> dict[str, Any]:
        """Give the counts as the manifest and `--dry-run` tell them."""
        return {
            "n_kept": self.n_kept,
            "n_missing": self.n_missing,
            "n_again": dict(self.again),
            "n_to_measure": self.n_to_measure,
            "n_to_judge": len(self.to_judge),
        }

    def __str__(self) -> str:
        """Say it in a line, e.g. `12 of 20 trials are kept; to run: 6 missing, 2 provider_error`."""
        n_trials = self.n_kept + len(self.pending)
        measuring = f"to measure: {self.n_to_measure}" if self.n_to_measure else ""
        if not self.pending:
            return f"all {n_trials} trials are done; {measuring or 'nothing is left to run'}"
        again = [f"{n} {status}" for status, n in self.again.items()]
        todo = [f"{self.n_missing} missing"] if self.n_missing else []
        todo += [f"{len(self.to_judge)} to judge again"] if self.to_judge else []
        kept = f"{self.n_kept} of {n_trials} trials are kept; to run: {', '.join([*todo, *again])}"
        return f"{kept}; {measuring}" if measuring else kept


def find_stored(reference: str, root: Path, *, to_write: bool) -> StoredRun:
    """Find a run by folder, id, part of an id or `latest`; who is going to write it gets its lock first.

    Raises:
        ResultsError: there is no such run, another process writes it, or a newer skilleval wrote it.
    """
    folder = find_run(reference, root, with_shards=True)
    lock = RunLock(folder, may_go_on=True) if to_write else None
    try:
        return StoredRun(folder=folder, manifest=read_manifest(folder), lock=lock)
    except ResultsError:
        if lock is not None:
            lock.release()
        raise


def compose_again(
    stored: StoredRun, overrides: Sequence[str], *, project: Path, config_dirs: Sequence[Path] = ()
) -> Composed:
    """Compose the settings of a stored run, as its manifest holds them, with further overrides.

    Raises:
        ConfigError: a setting is unknown or wrong.
        UsageError: the results would go elsewhere.
    """
    manifest = stored.manifest
    config = StoredConfig(
        where=stored.folder / MANIFEST,
        values=manifest["config"],
        overrides=tuple(manifest.get("overrides", ())),
        choices=manifest.get("choices", {}),
    )
    composed = compose_stored(config, overrides, project=project, config_dirs=config_dirs)
    _refuse_moving(manifest["config"], composed.values)
    return composed


def _refuse_moving(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    moved = tuple(
        Problem(
            where="command line",
            key=f"paths.{name}",
            expected=f"{before['paths'][name]}, as the run has it",
            found=str(now["paths"][name]),
        )
        for name in _PLACES
        if before["paths"].get(name) != now["paths"][name]
    )
    if moved:
        raise UsageError("a run that is gone on with stays where it is", problems=moved)


def plan_digest(prepared: Prepared) -> str:
    """Hash all that decides which rows a complete run has: its trials, how they are judged, what is left out of rows.

    Trial ids know what a skill is asked, not what is expected of it, so the content of the benchmark is hashed too.
    """
    digest = hashlib.sha256()
    for trial_id in sorted(trial.trial_id for trial in prepared.trials):
        digest.update(trial_id.encode())
    settings = prepared.settings
    digest.update(
        content_hash(
            [[name, *judging(prepared.scorers[name])] for name in sorted(prepared.scorers)],
            settings.runner.latency,
            list(settings.privacy.redact),
            judged_by(prepared.benchmark),
        ).encode()
    )
    return digest.hexdigest()[:32]


def _scorer(prepared: Prepared, name: str) -> dict[str, Any]:
    info = prepared.scorers[name].info
    return {"kind": info.kind, "version": info.version, "options": dict(info.options)}


def check_plan(prepared: Prepared, stored: StoredRun) -> None:
    """Check that a stored run and what was prepared from its settings are one plan.

    Raises:
        UsageError: they are not; says what differs.
    """
    before = stored.manifest.get("plan_digest")
    if before is None:
        msg = f"{stored.folder} cannot be gone on with: it does not say what was planned"
        raise UsageError(
            msg, hint="it was merged or scored from stored attempts, or an older skilleval wrote it"
        )
    if before != plan_digest(prepared):
        problems = tuple(_differences(prepared, stored.manifest))[:_SHOWN]
        msg = f"{stored.folder} cannot be gone on with: its plan is another one now"
        hint = "undo the change, or start a new run; `skilleval score` changes scorers of stored attempts"
        raise UsageError(msg, problems=problems or (_unexplained(prepared, stored),), hint=hint)


def _differences(prepared: Prepared, manifest: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _changed_skills(prepared, manifest)
    benchmark, known = prepared.benchmark, manifest["benchmark"]
    if benchmark.digest != known.get("digest"):
        yield _changed(str(benchmark.source), known.get("digest"), benchmark.digest)
    for name in sorted({*prepared.scorers, *manifest["scorers"]}):
        before = manifest["scorers"].get(name)
        # As it would be stored: a pair of numbers is a list there.
        now = json.loads(canonical_json(_scorer(prepared, name))) if name in prepared.scorers else None
        if before != now:
            yield _other(f"scorers.{name}", before, now)
    yield from _changed_settings(manifest["config"], prepared.composed.values)


def _changed_skills(prepared: Prepared, manifest: Mapping[str, Any]) -> Iterator[Problem]:
    before = {str(one["path"]): one for one in manifest["skills"]}
    now = {str(skill.folder): skill for skill in prepared.skills}
    for path in sorted({*before, *now}):
        if path not in now:
            yield Problem(where=path, expected=f"the skill {before[path]['id']}", found="no such skill")
        elif path not in before:
            yield Problem(where=path, expected="no skill that was not there before", found=now[path].id)
        elif before[path]["digest"] != now[path].digest:
            yield _changed(path, before[path]["digest"], now[path].digest)


def _changed(where: str, before: object, now: str) -> Problem:
    return Problem(
        where=where, expected=f"content as it was (SHA-256 {str(before)[:12]}…)", found=f"{now[:12]}…"
    )


def _changed_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Problem]:
    was, has = dict(leaves(before)), dict(leaves(now))
    for key in sorted({*was, *has}):
        if was.get(key) != has.get(key) and any(covers(one, key) for one in _SHAPING):
            yield _other(key, was.get(key), has.get(key))


def _other(key: str, before: object, now: object) -> Problem:
    return Problem(where="config", key=key, expected=f"{before}, as the run has it", found=str(now))


def _unexplained(prepared: Prepared, stored: StoredRun) -> Problem:
    """Say what can be said where settings, skills and benchmark are the same, but what this machine offers is not."""
    sandbox = stored.manifest["sandbox"]
    return Problem(
        where=str(stored.folder / MANIFEST),
        key="plan_digest",
        expected=f"{stored.manifest['n_planned']} trials under the sandbox {sandbox['name']}",
        found=f"{len(prepared.trials)} other ones under the sandbox {prepared.sandbox.name}",
    )


def what_is_left(
    trials: Sequence[Trial], statuses: Mapping[str, str], unjudged: Collection[str] = ()
) -> Left:
    """Part the trials of a plan into those that stay and those that are to run.

    To run is what is missing, and what the infrastructure is to blame for; of the trials in `unjudged`, whose judge
    failed, only what comes after the call.
    """
    kept: Counter[str] = Counter()
    again: Counter[str] = Counter()
    pending = []
    to_judge = []
    n_missing = 0
    for trial in trials:
        status = statuses.get(trial.trial_id)
        if status is None:
            n_missing += 1
        elif Status(status).is_infrastructure:
            again[status] += 1
        elif trial.trial_id in unjudged:
            to_judge.append(trial)
        else:
            kept[status] += 1
            continue
        pending.append(trial)
    return Left(
        pending=tuple(pending),
        kept=dict(sorted(kept.items())),
        again=dict(sorted(again.items())),
        n_missing=n_missing,
        to_judge=tuple(to_judge),
    )


def left_of(prepared: Prepared, stored: StoredRun) -> Left:
    """Say what a stored run still has to do; nothing is written by asking."""
    # Redacted attempts are not what was said: they cannot be judged again.
    unjudged = set() if prepared.settings.privacy.redact else read_unjudged(stored.folder)
    left = what_is_left(prepared.trials, read_statuses(stored.folder), unjudged)
    if prepared.settings.runner.latency != SERIAL:
        return left
    return replace(left, n_to_measure=len(unmeasured(stored.folder, prepared.trials)))


def unfinished(prepared: Prepared, root: Path, *, to_write: bool) -> StoredRun | None:
    """Find the newest unfinished run of the same plan in a folder; null where there is none.

    Raises:
        ResultsError: another process, no job of the same sweep, is writing it.
    """
    digest = plan_digest(prepared)
    sweep_id = prepared.composed.sweep.sweep_id if prepared.composed.sweep else None
    for folder in reversed(runs(root)):
        if folder.parent != root or not _may_go_on(folder, digest):
            continue
        if sweep_id is not None and is_locked(folder) and read_manifest(folder)["sweep_id"] == sweep_id:
            continue  # a job beside this one, with settings that make no other plan
        return find_stored(str(folder), root, to_write=to_write)
    return None


def _may_go_on(folder: Path, digest: str) -> bool:
    try:
        manifest = read_manifest(folder)
    except ResultsError:
        return False
    return manifest.get("plan_digest") == digest and is_unfinished(manifest)


def is_unfinished(manifest: Mapping[str, Any]) -> bool:
    """Say whether going on with a run would run anything, as far as its manifest knows."""
    counts = manifest.get("counts")
    if manifest.get("ended_at") is None or manifest.get("interrupted") or counts is None:
        return True
    by_status = counts["by_status"]
    to_blame = any(Status(status).is_infrastructure for status, n in by_status.items() if n)
    return bool(to_blame or counts["trials"] < manifest["n_planned"] or counts.get("judge_errors"))
