"""A program in a container: a fresh one, a kept one and a warm one, beside Docker's bare library in the same run.

Without an engine there is nothing to measure, and no row.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker as library
import yaml
from rows import Row

from skilleval.errors import AdapterError
from skilleval.sandboxes.base import Command
from skilleval.sandboxes.docker import DockerSandbox
from skilleval.sandboxes.docker.blueprint import Blueprint, Rules, User, View, container
from skilleval.sandboxes.docker.engine import Engine

ROOT = Path(__file__).parent.parent.parent
ARGV = ("python3", "-I", "-S", "-c", "pass")
PAUSE_S = 1.0
BATCH = 5  # containers are removed while the next one starts: only several tell what one costs


def options(**changes: Any) -> Any:
    """Give the shipped options of the sandbox with some changed."""
    shipped = yaml.safe_load((ROOT / "conf" / "sandbox" / "docker.yaml").read_text(encoding="utf-8"))
    values = {name: value for name, value in shipped.items() if name not in {"kind", "require"}}
    return DockerSandbox.Options.parse({**values, **changes}, where="benchmark")


class Bare:
    """The same command in the same kind of container, through Docker's library alone."""

    def __init__(self, folder: Path) -> None:
        engine = Engine()
        image = engine.image(options().image)
        assert image is not None
        blueprint = Blueprint(
            image=image,
            argv=ARGV,
            folder=folder,
            environment=(),
            view=View(reads=(folder,)),
            user=User(uid=10001, gid=10001),
        )
        rules = Rules(resources=options().resources, runtime=None, network=False, labels={})
        self._config = container(blueprint, ARGV, rules)
        self._idle = container(blueprint, ("sleep", "600"), rules)
        self._api: Any = library.APIClient(base_url=engine.address, version="auto")
        engine.close()
        self._kept = self._started(self._idle)

    def fresh(self) -> None:
        """Create, start, wait, remove."""
        name = self._started(self._config)
        assert self._api.wait(name)["StatusCode"] == 0
        self._api.remove_container(name)

    def command(self) -> None:
        """Run a further command in a container that runs."""
        made = self._api.exec_create(self._kept, list(ARGV), user="10001:10001")["Id"]
        self._api.exec_start(made)
        assert self._api.exec_inspect(made)["ExitCode"] == 0

    def close(self) -> None:
        """Remove what is kept."""
        self._api.remove_container(self._kept, force=True)
        self._api.close()

    def _started(self, config: Any) -> str:
        name = str(self._api.create_container_from_config(config)["Id"])
        self._api.start(name)
        return name


class Ours:
    """A sandbox of ours with some options, and the loop it lives in."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._sandbox = DockerSandbox(options(**changes))
        self._command = Command(
            argv=ARGV, folder=folder, env={}, stdin=b"", timeout_s=30.0, max_output_bytes=10_000
        )

    def run(self) -> None:
        """Run the command once."""
        completed = self._loop.run_until_complete(self._sandbox.run(self._command))
        assert completed.exit_code == 0, completed

    def settle(self) -> None:
        """Let the pool fill and what was used be removed, so that others are not slowed by it."""
        self._loop.run_until_complete(asyncio.sleep(PAUSE_S))

    def close(self) -> None:
        """Remove all."""
        self._loop.run_until_complete(self._sandbox.aclose())
        self._loop.close()


def seconds(step: Callable[[], None], times: int = 1) -> float:
    """Time one step, as the mean of several in a row."""
    began = time.perf_counter()
    for _ in range(times):
        step()
    return (time.perf_counter() - began) / times


def rows(*, quick: bool) -> list[Row]:
    """Measure in turns and compare medians; nothing where no engine answers."""
    n_rounds = 2 if quick else 6
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            bare = Bare(folder)
        except AdapterError as error:
            print(f"| sandbox=docker: {error.message} | | | | | |")
            return []
        fresh, warm, kept = Ours(folder), Ours(folder, pool=1), Ours(folder, reuse=True)
        try:
            return _compared(bare, fresh, warm, kept, n_rounds)
        finally:
            for one in (fresh, warm, kept, bare):
                one.close()


def _compared(bare: Bare, fresh: Ours, warm: Ours, kept: Ours, n_rounds: int) -> list[Row]:
    times: dict[str, list[float]] = {name: [] for name in ("bare", "fresh", "bare exec", "kept", "warm")}
    for one in (fresh, warm, kept):
        one.run()
        one.settle()
    for _ in range(n_rounds):
        times["bare"].append(seconds(bare.fresh, BATCH))
        times["fresh"].append(seconds(fresh.run, BATCH))
        fresh.settle()
        times["bare exec"].append(seconds(bare.command, BATCH))
        times["kept"].append(seconds(kept.run, BATCH))
        times["warm"].append(seconds(warm.run))
        warm.settle()
    median = {name: statistics.median(values) for name, values in times.items()}
    return [
        _row("fresh container", median["fresh"], "bare create, start, wait, remove", median["bare"], 1.25),
        _row("reuse=true", median["kept"], "bare exec", median["bare exec"], 1.5),
        _row("pool=1, filled", median["warm"], "bare exec", median["bare exec"], 1.5),
    ]


def _row(what: str, ours_s: float, floor: str, floor_s: float, goal: float) -> Row:
    return Row(
        what=f"sandbox=docker, {what}",
        value=f"{ours_s * 1000:.0f} ms",
        floor=f"{floor} {floor_s * 1000:.0f} ms",
        ratio=ours_s / floor_s,
        goal=f"≤ {goal} × the floor",
        met=ours_s / floor_s <= goal,
    )


if __name__ == "__main__":
    for row in rows(quick=False):
        print(
            json.dumps(
                {"what": row.what, "value": row.value, "floor": row.floor, "ratio": round(row.ratio, 2)}
            )
        )
