from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.errors import ConfigError
from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

Run = Callable[..., Completed]


def _variables(completed: Completed) -> dict[str, str]:
    pairs = (line.partition("=") for line in completed.stdout.decode().splitlines())
    return {name: value for name, _, value in pairs}


def test_a_program_sees_no_variable_of_the_evaluator_that_it_does_not_need(run: Run) -> None:
    """Only a short list of variables is handed over, so the evaluator's keys are not."""
    assert "PYTEST_CURRENT_TEST" in os.environ
    always = {"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}
    always |= {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "SKILLEVAL_TRIAL", "PWD"}
    assert set(_variables(run("env"))) <= always


def test_pass_env_hands_a_variable_over(make: Callable[..., Command]) -> None:
    """A variable that `pass_env` names is seen; one that is not set stays unset."""
    sandbox = NoSandbox(NoSandboxOptions(pass_env=("PYTEST_CURRENT_TEST", "SURELY_NOT_SET")))
    seen = _variables(asyncio.run(sandbox.run(make("env"))))
    assert seen["PYTEST_CURRENT_TEST"] == os.environ["PYTEST_CURRENT_TEST"]
    assert "SURELY_NOT_SET" not in seen


def test_the_command_has_the_last_word_on_the_environment(run: Run) -> None:
    """Variables of the command are set and win over those handed over."""
    seen = _variables(run("env", env={"SKILLEVAL_SEED": "7", "HOME": "/nowhere"}))
    assert (seen["SKILLEVAL_SEED"], seen["HOME"], seen["PYTHONUNBUFFERED"]) == ("7", "/nowhere", "1")


def test_a_program_runs_in_the_folder_of_the_command(run: Run, tmp_path: Path) -> None:
    """The working directory is the folder, and a word with a slash names a file in it."""
    script = tmp_path / "where.sh"
    script.write_text("#!/bin/sh\npwd -P\n")
    script.chmod(0o755)
    assert run("./where.sh").stdout.decode().strip() == str(tmp_path.resolve())


def test_arguments_are_never_read_by_a_shell(run: Run, tmp_path: Path) -> None:
    """Substitutions, separators and quotes reach the program as they are."""
    words = ("$(touch broken)", "; touch broken", "`touch broken`", "| touch broken", "'\"")
    assert run("printf", "%s\n", *words).stdout.decode().splitlines() == list(words)
    assert not (tmp_path / "broken").exists()


@pytest.mark.parametrize(
    ("word", "cause"),
    [
        ("surely-no-such-program", "program_not_found: surely-no-such-program is not a program on the PATH"),
        ("./surely-no-such-file", "program_missing: ./surely-no-such-file is not a file in "),
        ("./not-executable", "not_started: "),
        ("./no-format", "not_started: "),
        ("echo", None),
    ],
)
def test_what_cannot_start_is_told_and_not_raised(
    run: Run, tmp_path: Path, word: str, cause: str | None
) -> None:
    """A program that cannot start gives the cause in one word and the reason in one sentence."""
    (tmp_path / "not-executable").write_text("#!/bin/sh\n")
    (tmp_path / "no-format").write_bytes(b"\x00\x01\x02")
    (tmp_path / "no-format").chmod(0o755)
    completed = run(word)
    assert (completed.not_started or "").startswith(cause or "")
    assert (completed.not_started is None) == (cause is None)
    assert completed.exit_code == (0 if cause is None else None)


def test_a_folder_that_is_not_there_is_told(run: Run, tmp_path: Path) -> None:
    """A missing folder is its own cause, not a missing program."""
    completed = run("echo", folder=tmp_path / "gone")
    assert completed.not_started == f"folder_not_found: {tmp_path / 'gone'} is not a folder"


def test_an_impossible_argument_is_told(run: Run) -> None:
    """An argument the system refuses (a zero byte) is a program that cannot start."""
    assert (run("echo", "a\0b").not_started or "").endswith("embedded null byte")


def test_the_warning_says_that_nothing_is_isolated(sandbox: NoSandbox) -> None:
    """The sandbox promises nothing and says so in one sentence."""
    assert sandbox.guarantees == frozenset()
    (warning,) = sandbox.warnings
    assert warning.startswith("sandbox=none isolates nothing")


def test_options_take_a_list_of_names_and_nothing_else() -> None:
    """A list as YAML gives it is fine, a lone name is not."""
    assert NoSandboxOptions.parse({"pass_env": ["A"]}, where="x").pass_env == ("A",)
    with pytest.raises(ConfigError, match="pass_env"):
        NoSandboxOptions.parse({"pass_env": "A"}, where="x")


def test_python_is_started_without_a_shim(run: Run) -> None:
    """The interpreter that runs is the one that says so itself, wherever the PATH leads."""
    told = run("python3", "-c", "import sys; print(sys.executable)").stdout.decode().strip()
    assert Path(told).read_bytes()[:2] != b"#!"
    assert sys.platform != "linux" or Path(told).read_bytes()[:4] == b"\x7fELF"
