from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from skilleval.sandboxes import SANDBOXES
from skilleval.sandboxes.base import GUARANTEES, Command, Completed, Sandbox
from skilleval.strict import StrictModel

OPTIONS: dict[str, dict[str, Any]] = {
    "none": {"pass_env": []},
    "process": {
        "mechanism": "auto",
        "network": False,
        "allow_hosts": [],
        "pass_env": [],
        "read": [],
        "memory_mb": 256,
        "cpus": None,
        "cpu_seconds": 60,
        "processes": 64,
        "file_size_mb": 16,
        "open_files": 128,
        "tmp_mb": 16,
    },
    "docker": {
        "image": "skilleval-base:py311",
        "build": False,
        "runtime": None,
        "pool": 0,
        "reuse": False,
        "network": False,
        "allow_hosts": [],
        "pass_env": [],
        "read": [],
        "memory_mb": 256,
        "cpus": None,
        "cpu_seconds": 60,
        "processes": 64,
        "file_size_mb": 16,
        "open_files": 128,
        "tmp_mb": 16,
    },
}
_MARKS = {"docker": (pytest.mark.docker,)}
_KINDS = [pytest.param(kind, marks=_MARKS.get(kind, ())) for kind in SANDBOXES]
"""All kinds, each with the marker of what it needs."""


def _built(kind: str) -> Sandbox:
    part = SANDBOXES[kind]
    sandbox: Sandbox = part(part.Options.parse(OPTIONS[kind], where="test"))
    return sandbox


def _completed(kind: str, folder: Path, *argv: str, **changes: Any) -> Completed:
    values: dict[str, Any] = {"env": {}, "stdin": b"", "timeout_s": 20.0, "max_output_bytes": 10_000}
    folder.chmod(0o755)  # a sandbox may run programs as somebody else
    command = Command(argv=argv, folder=folder, **(values | changes))

    async def run() -> Completed:
        sandbox = _built(kind)
        completed = await sandbox.run(command)
        await sandbox.aclose()
        return completed

    return asyncio.run(run())


@pytest.mark.parametrize("kind", SANDBOXES)
def test_a_sandbox_has_strict_options_without_defaults(kind: str) -> None:
    """Defaults live in `conf/`: every option must be given."""
    options = SANDBOXES[kind].Options
    assert issubclass(options, StrictModel)
    assert all(field.is_required() for field in options.model_fields.values())


@pytest.mark.parametrize("kind", _KINDS)
def test_a_sandbox_says_what_it_is_and_what_it_promises(kind: str) -> None:
    """The name is the registry's, and who promises nothing warns."""
    sandbox = _built(kind)
    asyncio.run(sandbox.aclose())
    assert sandbox.name == kind
    assert isinstance(sandbox.guarantees, frozenset)
    assert sandbox.guarantees or sandbox.warnings
    assert sandbox.guarantees <= GUARANTEES.keys()


@pytest.mark.parametrize("kind", _KINDS)
def test_a_sandbox_takes_what_no_program_may_see(kind: str, tmp_path: Path) -> None:
    """Whether it can hide anything or not, it is built the same way."""
    part = SANDBOXES[kind]
    sandbox: Sandbox = part(part.Options.parse(OPTIONS[kind], where="test"), (tmp_path,))
    asyncio.run(sandbox.aclose())
    assert sandbox.name == kind


@pytest.mark.parametrize("kind", _KINDS)
def test_a_sandbox_runs_a_program_in_its_folder(kind: str, tmp_path: Path) -> None:
    """Input, environment, folder, both outputs and the exit code go through."""
    (tmp_path / "data").write_text("own file\n")
    script = 'cat; cat data; echo "$WORD" >&2; exit 3'
    completed = _completed(kind, tmp_path, "sh", "-c", script, stdin=b"input\n", env={"WORD": "w"})
    assert (completed.stdout, completed.stderr, completed.exit_code) == (b"input\nown file\n", b"w\n", 3)
    assert (completed.timed_out, completed.output_limit, completed.not_started) == (False, False, None)
    assert (completed.stdout_bytes, completed.stderr_bytes) == (15, 2)
    assert completed.duration_ms > 0
    assert completed.spawn_ms > 0


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize(
    ("argv", "limits", "cause"),
    [
        (("sleep", "20"), {"timeout_s": 0.2}, (True, False, False)),
        (("yes",), {"max_output_bytes": 100}, (False, True, False)),
        (("surely-no-such-program",), {}, (False, False, True)),
        (("true",), {}, (False, False, False)),
    ],
)
def test_a_sandbox_names_one_cause_at_most(
    kind: str, tmp_path: Path, argv: tuple[str, ...], limits: dict[str, Any], cause: tuple[bool, bool, bool]
) -> None:
    """Time, output and a failed start are told apart, and none of them is an exception."""
    completed = _completed(kind, tmp_path, *argv, **limits)
    assert (completed.timed_out, completed.output_limit, completed.not_started is not None) == cause
    assert len(completed.stdout) <= limits.get("max_output_bytes", 10_000)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_program_that_is_talked_with_can_be_told_the_end(kind: str, tmp_path: Path) -> None:
    """Once its stdin is closed it may finish what it does: its last words are heard, later ones to it are dropped."""
    tmp_path.chmod(0o755)
    limits: dict[str, Any] = {"env": {}, "stdin": b"", "timeout_s": 20.0, "max_output_bytes": 10_000}
    command = Command(argv=("sh", "-c", "cat; echo bye; exit 3"), folder=tmp_path, **limits)

    async def talk() -> tuple[bytes, Completed]:
        sandbox = _built(kind)
        session = await sandbox.open(command)
        assert not isinstance(session, Completed), session
        await session.send(b"word\n")
        session.end_input()
        session.end_input()
        await session.send(b"too late\n")
        await session.ended()
        heard = b""
        while piece := await session.receive():
            heard += piece
        done = await session.aclose()
        await sandbox.aclose()
        return heard, done

    heard, done = asyncio.run(talk())
    assert (heard, done.exit_code) == (b"word\nbye\n", 3)
