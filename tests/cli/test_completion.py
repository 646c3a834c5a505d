"""Shell completion, as a shell asks for it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli.conftest import SCRIPT


def offered(typed: str, folder: Path, environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Give the kind and value of everything bash is offered after the typed words; the last one is incomplete."""
    words = typed.split(" ")
    asked = {"_SKILLEVAL_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [str(SCRIPT)],
        cwd=folder,
        env={**environment, **asked},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    pairs = (line.split(",", maxsplit=1) for line in done.stdout.splitlines())
    return [(kind, value) for kind, value in pairs]


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("skilleval ev", "eval"),
        ("skilleval eval --form", "--format"),
        ("skilleval eval --format h", "html"),
        ("skilleval eval --benchmark cod", "coding-easy"),
        ("skilleval eval scor", "scorer="),
        ("skilleval eval scorer=ex", "scorer=exact"),
        ("skilleval eval benchmark=", "benchmark=coding-easy"),
        ("skilleval eval runner.rep", "runner.repeats="),
        ("skilleval report convert --input la", "latest"),
    ],
)
def test_words_are_completed(typed: str, value: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Commands, options, formats, benchmarks, groups, their options, settings and stored runs are offered."""
    assert ("plain", value) in offered(typed, folder, environment)


@pytest.mark.parametrize(
    "typed",
    ["skilleval eval ./sh", "skilleval eval my", "skilleval eval --tasks ta", "skilleval eval --skills s"],
)
def test_paths_are_left_to_the_shell(typed: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Where a path may stand, the shell's own file completion works."""
    assert [kind for kind, _ in offered(typed, folder, environment)] == ["file"]


def test_own_groups_and_benchmarks_are_offered(folder: Path, environment: Mapping[str, str]) -> None:
    """A project's conf/ and benchmarks/ are completed like the shipped ones."""
    (folder / "conf" / "runner").mkdir(parents=True)
    (folder / "conf" / "runner" / "nightly.yaml").write_text("repeats: 9\n")
    (folder / "benchmarks" / "own").mkdir(parents=True)
    (folder / "benchmarks" / "own" / "benchmark.json").write_text("{}")
    assert ("plain", "runner=nightly") in offered("skilleval eval runner=n", folder, environment)
    assert ("plain", "own") in offered("skilleval eval --benchmark o", folder, environment)
    assert os.listdir(folder / "conf") == ["runner"]  # noqa: PTH208 - names only
