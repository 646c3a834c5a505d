"""Kill `skilleval eval` at random moments, resume it until it is done, and compare with a run nobody disturbed.

The moments are spread evenly over a whole life: start, trials, tables, manifest, reports. Half of the runs are
resumed by `--resume`, half by the same command with `runner.resume=true`. Exit code 1 on anything lost, doubled or
different. `--kills 1000` takes some minutes, `--kills 20` seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path

from findings import after_end, after_kill, moment, only_run
from lives import Launcher

N_TASKS, REPEATS = 20, 5
MOST_KILLS = 6
EXIT_CODE = 3  # the adapter of the study loses some trials to infrastructure each time
BAD = ("lost", "doubled", "differing", "summaries", "left_behind", "exit_codes", "hung")


@dataclass(slots=True, kw_only=True)
class Tally:
    """What came of all runs so far."""

    runs: int = 0
    kills: int = 0
    moments: Counter[str] = field(default_factory=Counter)
    bad: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(BAD, 0)))


def write_workload(root: Path) -> list[str]:
    """Write a skill and its tasks; give the command line that evaluates it."""
    skill = {
        "id": "shaky",
        "name": "Shaky",
        "version": "1.0.0",
        "adapterType": "subprocess",
        "entrypoint": "x",
    }
    (root / "shaky").mkdir()
    (root / "shaky" / "skill.json").write_text(json.dumps(skill), encoding="utf-8")
    tasks = [
        {
            "id": f"t{i}",
            "inputData": {"n": i},
            # Without keywords there is nothing to check: such trials stay ungraded by the second scorer.
            "expectedOutput": {"type": "exact", "value": 1, "keywords": ["1"] if i % 3 else []},
            "tags": [f"tag{i % 2}"],
            "weight": 1 + i % 2,
        }
        for i in range(N_TASKS)
    ]
    (root / "tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
    return [
        "eval",
        *("--skills", str(root / "shaky"), "--tasks", str(root / "tasks.json"), "--json"),
        *("--runs", str(REPEATS), "--retries", "2", "--format", "json", "markdown"),
        *("adapter=replay", "adapter.kind=shaky_adapter:ShakyAdapter", "+adapter.pause_ms=6"),
        *("adapter.path=none", "~adapter.path"),  # an option of replay that this adapter does not have
        *("scorer=[exact,contains]", "runner.backoff_base_s=0.001", "runner.concurrency=2", "sandbox=none"),
    ]


class Study:
    """Kills and resumes runs of one workload."""

    def __init__(self, root: Path, launcher: Launcher, rng: random.Random) -> None:
        self._root, self._launcher, self._rng = root, launcher, rng
        self._command = write_workload(root)
        self.tally = Tally()
        self._lives_s: deque[float] = deque(maxlen=3)
        self.undisturbed = self._measured()

    @property
    def life_s(self) -> float:
        """How long a life lasts, by the last ones that nobody cut short: the machine may be busier than before."""
        return statistics.mean(self._lives_s)

    def _measured(self) -> Path:
        """Make a run that nobody disturbs, and measure how long such a life is."""
        lives = [self._launcher.live(self._first(f"whole{i}"), kill_after_s=None) for i in range(3)]
        assert [one.code for one in lives] == [EXIT_CODE] * 3, self._launcher.said()[-2000:]
        folder = only_run(self._root / "whole0")
        assert folder is not None
        # The first life loads what the later ones find loaded.
        self._lives_s.extend(one.seconds for one in lives[1:])
        return folder

    def _first(self, out: str) -> list[str]:
        return [*self._command, "--output-dir", str(self._root / out)]

    def one_run(self) -> None:
        """Kill a run a few times, let it end, and look at it."""
        number = self.tally.runs
        out = self._root / f"run{number}"
        known: dict[str, str] = {}
        for _ in range(self._rng.randint(1, MOST_KILLS)):
            moment_s = self._rng.uniform(0, self.life_s)
            ended = self._launcher.live(self._arguments(out, number), kill_after_s=moment_s)
            if not ended.killed:
                break
            self._count_kill(only_run(out), known)
        else:
            ended = self._launcher.live(self._arguments(out, number), kill_after_s=None)
        self._lives_s.append(ended.seconds)
        self.tally.bad["hung"] += int(ended.killed)
        self.tally.bad["exit_codes"] += int(ended.code != EXIT_CODE)
        folder = only_run(out)
        if folder is not None and not ended.killed:
            self.tally.bad.update(after_end(folder, self.undisturbed))
        self.tally.runs += 1

    def _arguments(self, out: Path, number: int) -> list[str]:
        """Give the command that starts the run, or goes on with it as far as there is anything to go on with."""
        if number % 2:
            return [*self._first(out.name), "runner.resume=true"]
        folder = only_run(out)
        return self._first(out.name) if folder is None else ["eval", "--resume", str(folder), "--json"]

    def _count_kill(self, folder: Path | None, known: dict[str, str]) -> None:
        self.tally.kills += 1
        self.tally.moments[moment(folder)] += 1
        if folder is not None:
            self.tally.bad.update(after_kill(folder, known))


def show(tally: Tally, seconds: float) -> None:
    """Print where the kills fell, and what was found."""
    print(f"{tally.runs} runs of {N_TASKS * REPEATS} trials, {tally.kills} kills, {seconds:.0f} s\n")
    print("| killed | kills |\n|---|---|")
    for name, n in tally.moments.most_common():
        print(f"| {name} | {n} |")
    print("\n| found | count |\n|---|---|")
    for name in BAD:
        print(f"| {name.replace('_', ' ')} | {tally.bad[name]} |")


def main() -> int:
    """Kill until there were enough kills; exit code 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="kills in all (1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments (0)")
    parser.add_argument("--plain", action="store_true", help="start the installed script anew for each life")
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        launcher = Launcher(Path(folder), plain=options.plain)
        try:
            rng = random.Random(options.seed)  # noqa: S311 - spreads kills; no secret
            study = Study(Path(folder), launcher, rng)
            while study.tally.kills < options.kills:
                study.one_run()
            found = any(study.tally.bad.values())
            show(study.tally, time.monotonic() - started)
            if found:
                print(launcher.said()[-5000:], file=sys.stderr)
        finally:
            launcher.close()
    return int(found)


if __name__ == "__main__":
    sys.exit(main())
