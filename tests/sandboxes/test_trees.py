from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from naps import Nap

from skilleval.sandboxes.base import Command
from skilleval.sandboxes.none import NoSandbox
from skilleval.sandboxes.procfs import read_own_children
from skilleval.sandboxes.trees import Tree

Make = Callable[..., Command]

NAMELESS = "env -i setsid sleep {nap} >/dev/null 2>&1 </dev/null &"
UNTIL_TOLD = "while [ ! -e told ]; do sleep 0.02; done"


def _started(argv: list[str], *, start_new_session: bool) -> subprocess.Popen[bytes]:
    return subprocess.Popen(argv, start_new_session=start_new_session)


def test_the_end_of_a_trial_spares_the_helpers_of_another(
    sandbox: NoSandbox, make: Make, nap: Nap, tmp_path: Path
) -> None:
    """A helper that has left its trial's session carries the trial's token and lives as long as the trial."""

    async def seen_after_the_other_ended() -> int:
        script = f"(setsid sleep {nap.seconds} &); {UNTIL_TOLD}"
        trial = asyncio.create_task(sandbox.run(make("sh", "-c", script)))
        await asyncio.to_thread(nap.wait_for, 1)
        await sandbox.run(make("sh", "-c", "(setsid sleep 20 &); exit 0"))
        n_seen = len([pid for pid in nap.sleepers() if pid in read_own_children()])
        (tmp_path / "told").touch()
        await trial
        return n_seen

    assert asyncio.run(seen_after_the_other_ended()) >= 1
    assert nap.sleepers() == []


def test_a_nameless_orphan_ends_with_the_last_trial_it_can_belong_to(
    sandbox: NoSandbox, make: Make, nap: Nap, tmp_path: Path
) -> None:
    """Where nothing tells whose an orphan is, no trial takes it from another, and the last one ends it."""

    async def orphans() -> tuple[int, int]:
        owner = make("sh", "-c", f"{NAMELESS.format(nap=nap.seconds)} {UNTIL_TOLD}")
        trial = asyncio.create_task(sandbox.run(owner))
        await asyncio.to_thread(nap.wait_for, 1)
        other = make("sh", "-c", f"({NAMELESS.format(nap=nap.seconds)}); sleep 0.1")
        await sandbox.run(other)
        n_meanwhile = len(nap.sleepers())
        (tmp_path / "told").touch()
        await trial
        return n_meanwhile, len(nap.sleepers())

    n_meanwhile, n_afterwards = asyncio.run(orphans())
    assert n_meanwhile >= 1
    assert n_afterwards == 0


def test_children_of_the_evaluator_itself_are_spared(sandbox: NoSandbox, make: Make) -> None:
    """A process that we started ourselves is no stray, whether it began before or during the trial."""

    async def alive() -> tuple[bool, bool]:
        before = _started(["sleep", "20"], start_new_session=True)
        trial = asyncio.create_task(sandbox.run(make("sleep", "0.3")))
        await asyncio.sleep(0.1)
        during = _started(["sleep", "20"], start_new_session=False)
        await trial
        seen = (before.poll() is None, during.poll() is None)
        for child in (before, during):
            child.kill()
            child.wait()
        return seen

    assert asyncio.run(alive()) == (True, True)


def test_many_trials_at_once_leave_no_child_behind(sandbox: NoSandbox, make: Make, nap: Nap) -> None:
    """Neither processes nor zombies pile up, whatever the trials leave and whenever they end."""
    scripts = [
        f"(setsid sleep {nap.seconds} &); sleep 0.{i % 3}" if i % 2 else NAMELESS.format(nap=nap.seconds)
        for i in range(24)
    ]

    async def all_of_them() -> None:
        await asyncio.gather(*(sandbox.run(make("sh", "-c", script)) for script in scripts))

    before = set(read_own_children())
    asyncio.run(all_of_them())
    assert nap.sleepers() == []
    assert set(read_own_children()) <= before


def test_trials_in_two_threads_do_not_end_each_other(sandbox: NoSandbox, make: Make) -> None:
    """Sandboxes share the children of the process, also between event loops."""

    async def both() -> list[int | None]:
        command = make("sh", "-c", "sleep 0.2; exit 5")

        def in_a_thread() -> int | None:
            return asyncio.run(sandbox.run(command)).exit_code

        here = asyncio.create_task(sandbox.run(command))
        there = await asyncio.gather(*(asyncio.to_thread(in_a_thread) for _ in range(4)))
        return [(await here).exit_code, *there]

    assert asyncio.run(both()) == [5] * 5


def test_the_dead_are_buried_and_the_living_waited_for() -> None:
    """Who has ended meanwhile is reason to look again at once, and only once: then he is no longer there."""
    tree = Tree()
    dead, alive = (_started(["sleep", time], start_new_session=True) for time in ("0", "60"))
    os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
    first, second = tree.lingering(), tree.lingering()
    tree.close()
    alive.kill()
    for child in (dead, alive):
        child.wait()
    assert first is None
    assert second is not None
    assert alive.pid in second
    assert dead.pid not in second
