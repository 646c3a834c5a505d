from __future__ import annotations

from pathlib import Path

import pytest

from skilleval.adapters.hidden import with_hints
from skilleval.domain.attempts import Reply, Status
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions


class Enclosed(NoSandbox):
    """Promises what hides things; nothing is run in it."""

    guarantees = frozenset({"filesystem", "network", "environment"})


def _message(
    said: str, *, folder: Path = Path("/nowhere"), kind: type[NoSandbox] = Enclosed, stderr: str = ""
) -> str:
    reply = Reply(status=Status.SKILL_ERROR, failure_kind="exit_code", message=said, stderr=stderr)
    return str(with_hints(reply, folder, kind(NoSandboxOptions(pass_env=()))).message)


@pytest.mark.parametrize(
    "said",
    [
        "FileNotFoundError: [Errno 2] No such file or directory: '{path}'",
        "Error: ENOENT: no such file or directory, open '{path}'",
    ],
)
def test_a_file_that_is_here_may_be_hidden(tmp_path: Path, said: str) -> None:
    """A path that the message names and that exists outside gets the setting that shows it."""
    here = tmp_path / "weights.bin"
    here.touch()
    hint = f" (the sandbox may hide it: sandbox.read=[{here}])"
    assert _message(said.format(path=here)) == said.format(path=here) + hint
    assert _message("it failed", stderr=f"Traceback\n{said.format(path=here)}\n") == f"it failed{hint}"


def test_a_file_that_is_nowhere_or_its_own_is_not_hidden(tmp_path: Path) -> None:
    """Nothing is claimed of a file that does not exist, that is the skill's, or that is not said to be missing."""
    (tmp_path / "own").touch()
    missing = "No such file or directory: '{}'"
    for said in (missing.format("/surely/not/here"), missing.format(tmp_path / "own"), f"bad '{tmp_path}'"):
        assert _message(said, folder=tmp_path) == said


@pytest.mark.parametrize(
    "said",
    [
        "URLError: <urlopen error [Errno 111] Connection refused>",
        "getaddrinfo ENOTFOUND api.example.com",
        "[Errno -3] Temporary failure in name resolution",
    ],
)
def test_a_host_that_is_out_of_reach_may_be_kept_away(said: str) -> None:
    """Only where the sandbox keeps the network away."""
    assert _message(said).endswith("(the sandbox may hide it: sandbox.allow_hosts=[HOST:PORT])")
    assert _message(said, kind=NoSandbox) == said


def test_a_variable_that_is_set_here_may_be_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sandbox hides variables; one that is set nowhere is not hidden."""
    monkeypatch.setenv("SOME_KEY", "x")
    said = "exit code 1: KeyError: 'SOME_KEY'"
    assert _message(said, kind=NoSandbox) == f"{said} (the sandbox may hide it: sandbox.pass_env=[SOME_KEY])"
    assert _message("KeyError: 'SURELY_NOT_SET'") == "KeyError: 'SURELY_NOT_SET'"


def test_only_errors_of_the_skill_get_hints() -> None:
    """A reply that completed is given as it is."""
    reply = Reply(status=Status.COMPLETED, output="1", stderr="Connection refused")
    assert with_hints(reply, Path("/nowhere"), Enclosed(NoSandboxOptions(pass_env=()))) is reply
