from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

REAL = "/bin/sh"


def _write(file: Path, text: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    return file


def _shim(tmp_path: Path, name: str, answer: str) -> Path:
    """Write a shim that counts its starts and answers every question alike."""
    text = f"#!/bin/sh\necho asked >> {tmp_path}/asked\n{answer}\n"
    return _write(tmp_path / "shims" / name, text)


def _n_asked(tmp_path: Path) -> int:
    file = tmp_path / "asked"
    return len(file.read_text().splitlines()) if file.exists() else 0


def _run(tmp_path: Path, argv: Sequence[str], times: int = 1) -> list[Completed]:
    sandbox = NoSandbox(NoSandboxOptions(pass_env=()))
    command = Command(
        argv=tuple(argv),
        folder=tmp_path,
        env={"PATH": f"{tmp_path}/shims:/usr/bin:/bin"},
        stdin=b"",
        timeout_s=20,
        max_output_bytes=1000,
    )

    async def together() -> list[Completed]:
        return await asyncio.gather(*(sandbox.run(command) for _ in range(times)))

    return asyncio.run(together())


@pytest.mark.parametrize("name", ["python", "python3", "python3.11", "node"])
def test_a_shim_is_asked_once_and_never_started_again(tmp_path: Path, name: str) -> None:
    """Trials that start together wait for one answer and then start the real program."""
    _shim(tmp_path, name, f"echo {REAL}")
    results = _run(tmp_path, [name, "-c", "echo $0"], times=6)
    assert [result.stdout for result in results] == [f"{REAL}\n".encode()] * 6
    assert _n_asked(tmp_path) == 1


def test_the_answer_of_a_real_interpreter_is_used(tmp_path: Path) -> None:
    """A shim that passes its arguments on is replaced by the interpreter behind it."""
    _shim(tmp_path, "python3", f'exec {sys.executable} "$@"')
    (result,) = _run(tmp_path, ["python3", "-c", "import sys; print(sys.executable)"])
    assert result.stdout.decode().strip() == sys.executable
    assert _n_asked(tmp_path) == 1


@pytest.mark.parametrize(
    "answer", ["exit 1", "echo", "echo /no/such/file", "echo sh", "echo $0", "echo $$; sleep 0"]
)
def test_a_shim_with_no_useful_answer_is_started_itself(tmp_path: Path, answer: str) -> None:
    """Only an executable that is no script replaces the shim."""
    _shim(tmp_path, "python3", answer)
    _run(tmp_path, ["python3", "x"])
    assert _n_asked(tmp_path) == 2


@pytest.mark.parametrize("name", ["python2", "mypython3", "ruby", "python3-config"])
def test_other_scripts_are_started_as_they_are(tmp_path: Path, name: str) -> None:
    """A script that is not named like an interpreter is the program itself."""
    _shim(tmp_path, name, f"echo {REAL}")
    _run(tmp_path, [name])
    assert _n_asked(tmp_path) == 1


def test_a_program_of_the_skill_is_not_taken_from_the_path(tmp_path: Path) -> None:
    """A word with a slash means the folder, a word without one never does."""
    _write(tmp_path / "tool", "#!/bin/sh\necho own\n")
    with_slash, without = _run(tmp_path, ["./tool"])[0], _run(tmp_path, ["tool"])[0]
    assert with_slash.stdout == b"own\n"
    assert without.not_started is not None
