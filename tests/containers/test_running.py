from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from containers.boxes import command, completed, containers, sandbox, used
from naps import Nap

from skilleval.sandboxes.base import Completed
from skilleval.sandboxes.docker import DockerSandbox

pytestmark = pytest.mark.docker
_WAYS = [
    pytest.param({}, id="fresh"),
    pytest.param({"pool": 1}, id="pool"),
    pytest.param({"reuse": True}, id="reuse"),
]
_HOG = "b = []\nwhile True: b.append(bytearray(b'x') * (16 << 20))"


@pytest.mark.parametrize("options", _WAYS)
def test_input_outputs_variables_and_exit_code_go_through(folder: Path, options: dict[str, Any]) -> None:
    """Each of three trials in a row gets its own input and its own variables, in its own folder."""
    (folder / "data").write_text("own file\n")

    async def work(made: DockerSandbox) -> list[Completed]:
        script = 'cat; cat data; printf %s "$WORD" >&2; exit 3'
        return [
            await made.run(
                command(folder, "sh", "-c", script, stdin=f"{n}\n".encode(), env={"WORD": f"w {n} \\n"})
            )
            for n in range(3)
        ]

    for n, done in enumerate(used(work, **options)):
        assert (done.stdout, done.stderr, done.exit_code) == (
            f"{n}\nown file\n".encode(),
            f"w {n} \\n".encode(),
            3,
        )
        assert (done.timed_out, done.output_limit, done.not_started, done.limit) == (False, False, None, None)


@pytest.mark.parametrize("value", ["two\nlines", "", "a=b", " é'\"$(x)\\n "])
def test_any_variable_goes_through(folder: Path, value: str) -> None:
    """Also one that no shell could take as a line."""
    program = "import os, sys; sys.stdout.buffer.write(os.fsencode(os.environ['WORD']))"
    assert completed(folder, "python3", "-c", program, env={"WORD": value}).stdout == value.encode()


_CAUSES: list[tuple[tuple[str, ...], dict[str, Any], tuple[bool, bool, str | None]]] = [
    (("sleep", "20"), {"timeout_s": 0.3}, (True, False, None)),
    (("sh", "-c", "exec >&- 2>&-; sleep 20"), {"timeout_s": 0.3}, (True, False, None)),
    (("yes",), {"max_output_bytes": 100}, (False, True, None)),
    (("sh", "-c", "yes >&2"), {"max_output_bytes": 100}, (False, True, None)),
    (("surely-no-such-program",), {}, (False, False, "program_not_found")),
    (("/surely/not/there",), {}, (False, False, "program_not_found")),
    (("./no-such-file",), {}, (False, False, "program_missing")),
    (("sh", "-c", "exit 127"), {}, (False, False, None)),
]


@pytest.mark.parametrize("options", _WAYS)
def test_causes_are_told_apart(folder: Path, options: dict[str, Any]) -> None:
    """Time, output and a program that is not there are never taken for each other."""

    async def work(made: DockerSandbox) -> list[Completed]:
        return await asyncio.gather(
            *(made.run(command(folder, *argv, **limits)) for argv, limits, _ in _CAUSES)
        )

    for (argv, _, cause), done in zip(_CAUSES, used(work, **options), strict=True):
        not_started = None if done.not_started is None else done.not_started.partition(":")[0]
        assert (done.timed_out, done.output_limit, not_started) == cause, argv
        assert len(done.stdout) <= 100


@pytest.mark.parametrize("options", _WAYS)
def test_a_lack_of_memory_is_told(folder: Path, options: dict[str, Any]) -> None:
    """The kernel ends the program, and the limit is named; the next trial is not blamed for it."""

    async def work(made: DockerSandbox) -> tuple[Completed, Completed]:
        hog = await made.run(command(folder, "python3", "-c", _HOG))
        return hog, await made.run(command(folder, "sh", "-c", "kill -9 $$"))

    hog, next_one = used(work, **options)
    assert (hog.exit_code, hog.limit, hog.limit_value) == (-9, "memory", "128 MB")
    assert (next_one.exit_code, next_one.limit) == (-9, None)


def test_a_limit_of_cpu_time_and_of_files_is_told(folder: Path) -> None:
    """The signal that ends the program names the limit, for its first process takes signals on itself."""
    done = completed(folder, "python3", "-c", "while True: pass", options={"cpu_seconds": 1})
    assert (done.exit_code, done.limit) == (-24, "cpu")
    script = "yes >/tmp/file"
    done = completed(folder, "sh", "-c", script, options={"file_size_mb": 1})
    assert (done.exit_code, done.limit) == (-25, "file_size")


def test_the_time_is_that_of_the_program(folder: Path) -> None:
    """Making and removing the container is not charged to it."""
    done = completed(folder, "sleep", "0.3")
    assert 300 <= done.duration_ms < 450
    assert done.spawn_ms > 0


def test_large_input_to_who_reads_nothing_is_no_fault(folder: Path) -> None:
    """The program ends by itself, whatever is still to be written to it."""
    done = completed(folder, "true", stdin=b"x" * 3_000_000)
    assert (done.exit_code, done.not_started) == (0, None)


@pytest.mark.parametrize("options", _WAYS)
def test_what_a_program_leaves_behind_ends_with_it(folder: Path, nap: Nap, options: dict[str, Any]) -> None:
    """A process of another session that holds no pipe is gone when the trial is over."""
    script = f"setsid sleep {nap.seconds} >/dev/null 2>&1 </dev/null & sleep 0.1; echo done"
    if options.get("reuse"):
        script = script.replace("setsid ", "")

    async def work(made: DockerSandbox) -> tuple[bytes, list[int]]:
        done = await made.run(command(folder, "sh", "-c", script))
        return done.stdout, nap.sleepers()

    assert used(work, **options) == (b"done\n", [])


@pytest.mark.parametrize("options", _WAYS)
def test_nothing_is_left_after_a_cancellation(folder: Path, nap: Nap, options: dict[str, Any]) -> None:
    """When the cancelled call returns, the program is dead, and no container of the trial is left."""

    async def work(made: DockerSandbox) -> None:
        trial = asyncio.create_task(made.run(command(folder, "sleep", nap.seconds)))
        await asyncio.to_thread(nap.wait_for, 1)
        trial.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trial
        assert nap.sleepers() == []
        assert containers() == ()

    used(work, **options)


@pytest.mark.parametrize("after_s", [0.0, 0.02, 0.1, 0.2])
def test_nothing_is_left_when_a_start_is_cancelled(folder: Path, after_s: float) -> None:
    """A container that is being made is made and removed, or never made."""

    async def work(made: DockerSandbox) -> None:
        trial = asyncio.create_task(made.run(command(folder, "sleep", "20")))
        await asyncio.sleep(after_s)
        trial.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trial
        assert containers() == ()

    used(work)


def test_the_event_loop_goes_on(folder: Path) -> None:
    """While containers are made, run and removed, nothing else has to wait."""

    async def work(made: DockerSandbox) -> float:
        loop = asyncio.get_running_loop()
        trial = asyncio.create_task(made.run(command(folder, "sleep", "0.2")))
        longest, before = 0.0, loop.time()
        while not trial.done():
            await asyncio.sleep(0.005)
            longest, before = max(longest, loop.time() - before), loop.time()
        return longest

    assert used(work) < 0.15


def test_many_run_at_once(folder: Path) -> None:
    """Trials side by side get their own answers."""

    async def work(made: DockerSandbox) -> list[Completed]:
        commands = [command(folder, "cat", stdin=str(n).encode()) for n in range(6)]
        return await asyncio.gather(*(made.run(one) for one in commands))

    assert [done.stdout for done in used(work)] == [b"0", b"1", b"2", b"3", b"4", b"5"]


def test_a_folder_that_the_user_cannot_read_is_refused_with_the_fix(folder: Path) -> None:
    """Programs are never root: a private folder of root is told before anything starts."""
    if os.getuid() != 0:
        pytest.skip("only root runs programs as somebody else")
    (folder / "secret").touch(mode=0o600)
    done = completed(folder, "true")
    assert done.not_started == (
        f"sandbox_failed: user 10001 of the container may not read {folder}/secret: chmod -R o+rX {folder}"
    )


def test_a_container_that_cannot_be_made_is_a_failed_start(folder: Path) -> None:
    """What the engine says is handed on."""

    async def work(made: DockerSandbox) -> Completed:
        clash = folder / "file"
        clash.write_text("x")
        return await made.run(command(folder, "true", reads=(clash, Path("/proc/self/status"))))

    done = used(work)
    assert done.not_started is not None
    assert done.not_started.startswith("sandbox_failed: ")


def test_sandboxes_are_closed_twice_without_harm(folder: Path) -> None:
    """Nothing is held after the first time, also where something was run."""

    async def work() -> Completed:
        made = sandbox()
        done = await made.run(command(folder, "true"))
        await made.aclose()
        await made.aclose()
        return done

    assert asyncio.run(work()).exit_code == 0
    assert containers() == ()
