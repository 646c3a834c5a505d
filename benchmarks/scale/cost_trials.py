"""What a trial takes of the evaluating process, by the way a skill is driven: CPU time, not waiting."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import judged
import loopback
import worker
from fits import Estimate, mean_of
from workload import write_benchmark, write_recording, write_skill

from skilleval.app.evaluate import evaluate
from skilleval.app.prepare import prepare
from skilleval.config.compose import compose_settings
from skilleval.domain.records import TrialRecord

CHUNKS = 20
SLOTS = 8
"""At most that many trials run at once. As many are left out at both ends, where slots fill up and run dry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """One way of driving a skill: its settings, and how many trials are measured, in full and in the quick study."""

    n_trials: int
    n_quick: int
    settings: Callable[[Path, int], list[str]]


def measured_trials(*, quick: bool) -> dict[str, Estimate]:
    """Measure the CPU seconds of a trial; for programs also those of the program itself."""
    found: dict[str, Estimate] = {}
    with tempfile.TemporaryDirectory() as folder, loopback.http_server() as port:
        for name, driven in _ways(port).items():
            own, theirs = _chunks(Path(folder), name, driven, driven.n_quick if quick else driven.n_trials)
            found[f"trial, {name}"] = mean_of(own)
            if name.startswith("subprocess"):  # others end after the last trial, when nobody looks any more
                found[f"trial, {name}: the program itself"] = mean_of(theirs)
        found["trial, chat"] = mean_of(_chat(Path(folder) / "chat", 60 if quick else 240))
    return found


def _ways(port: int) -> dict[str, Driven]:
    return {
        "replay": Driven(n_trials=10_000, n_quick=1000, settings=_replay),
        "worker": Driven(n_trials=4000, n_quick=400, settings=_worker),
        "http": Driven(n_trials=2000, n_quick=200, settings=partial(_http, port)),
        "subprocess, sandbox none": Driven(n_trials=200, n_quick=40, settings=partial(_spawned, "none")),
        "subprocess, sandbox process": Driven(
            n_trials=200, n_quick=40, settings=partial(_spawned, "process")
        ),
    }


def _replay(root: Path, n_tasks: int) -> list[str]:
    recorded = write_recording(root / "recorded.jsonl", n_tasks)
    return [f"skill_set.paths=[{write_skill(root / 'adder')}]", "adapter=replay", f"adapter.path={recorded}"]


def _worker(root: Path, _n_tasks: int) -> list[str]:
    skill = write_skill(root / "adder")
    (skill / "skill.py").write_text(worker.PROGRAM)
    return [f"skill_set.paths=[{skill}]", "runner.isolation=worker", "sandbox=none"]


def _http(port: int, root: Path, _n_tasks: int) -> list[str]:
    return [f"skill_set.paths=[{loopback.write_http_skill(root / 'adder', port)}]"]


def _spawned(sandbox: str, root: Path, _n_tasks: int) -> list[str]:
    return [f"skill_set.paths=[{write_skill(root / 'adder')}]", f"sandbox={sandbox}"]


def _chunks(root: Path, name: str, driven: Driven, n_trials: int) -> tuple[list[float], list[float]]:
    """Run once to warm up, then give the seconds of a trial in each of 20 chunks: ours, and those of programs."""
    place = root / name.replace(" ", "-").replace(",", "")
    for n_tasks, part in ((CHUNKS, place / "warm"), (n_trials, place / "real")):
        part.mkdir(parents=True)
        stamps = _stamps(part, [*driven.settings(part, n_tasks), *_common(part, n_tasks)])
    return _each(stamps)


def _common(root: Path, n_tasks: int) -> list[str]:
    return [f"benchmark.name={write_benchmark(root / 'sums.json', n_tasks)}", *places(root)]


def places(root: Path) -> list[str]:
    """Give the settings that keep a run to itself and write no report."""
    return [f"paths.output_dir={root / 'out'}", f"paths.cache={root / 'cache'}", "report.formats=[]"]


def _stamps(root: Path, settings: list[str]) -> list[tuple[float, float]]:
    """Run an evaluation; give the CPU seconds of this process and of its children after each trial."""
    prepared = prepare(compose_settings(settings, project=root))
    stamps: list[tuple[float, float]] = []
    messages: set[str | None] = set()

    def note(record: TrialRecord) -> None:
        messages.add(record.attempt.message)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        stamps.append((time.process_time(), children.ru_utime + children.ru_stime))

    outcome = evaluate(prepared, observe=note)
    if set(outcome.statuses) != {"completed"}:
        raise SystemExit(f"not every trial was completed: {dict(outcome.statuses)}: {messages}")
    return stamps


def _each(stamps: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    stamps = stamps[SLOTS:-SLOTS]
    n = max(1, (len(stamps) - 1) // CHUNKS)
    pairs = list(zip(stamps[::n], stamps[n::n], strict=False))
    own = [(after[0] - before[0]) / n for before, after in pairs]
    return own, [(after[1] - before[1]) / n for before, after in pairs]


def _chat(root: Path, n_evals: int) -> list[float]:
    """Ask a scripted model on this machine, which then judges three assertions: two calls a trial."""
    for n, part in ((CHUNKS, root / "warm"), (n_evals, root / "real")):
        part.mkdir(parents=True)
        skill = judged.write_skill(part / "ledger", n)
        with judged.scripted_model(part) as (url, _):
            model = ["model=local", f"model.base_url={url}", "benchmark=evals"]
            settings = [f"skill_set.paths=[{skill}]", *model, f"runner.concurrency={SLOTS}", *places(part)]
            stamps = _stamps(part, settings)
    own, _ = _each(stamps)
    return own
