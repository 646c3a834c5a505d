"""Every example of `docs/commands.md` runs as it stands there, one after the other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from warm_program import WarmProgram

from skilleval.cli import cli

DOCS = (Path(__file__).parent.parent / "docs" / "commands.md").read_text(encoding="utf-8")

OWN_TEST = {
    "skilleval demo",  # runs for ten seconds, in tests/cli/test_evaluation.py
    "skilleval sandbox prune",  # needs a Docker engine, in tests/containers/test_runs.py
    "skilleval sandbox prune --dry-run",
}

# One process for all plain command lines: thirty starts of the installed script would take a minute. A shell that
# needs `skilleval` gets one that has been imported already.
READER = """
import json, shlex, subprocess, sys
from skilleval.cli import run

for command, needs_shell in json.load(sys.stdin):
    shell = ["bash", "-euo", "pipefail", "-c", command]
    code = subprocess.run(shell).returncode if needs_shell else run(shlex.split(command)[1:])
    if code:
        sys.exit(f"exit code {code}: {command}")
"""


def commands() -> Iterator[tuple[str, bool]]:
    """Give the examples in their order: a command line, or a whole block that writes a file; does it need a shell?"""
    for block in re.findall(r"```bash\n(.*?)```", DOCS, re.DOTALL):
        if "<<" in block:
            yield block, True
        else:
            yield from ((line, "$(" in line or " | " in line) for line in block.splitlines())


def test_every_example_runs_in_an_empty_folder(tmp_path: Path, warm_program: WarmProgram) -> None:
    """What the page shows exits 0, in the order in which it is shown; some have tests of their own."""
    examples = [(command, needs_shell) for command, needs_shell in commands() if command not in OWN_TEST]
    assert len(examples) > 25
    scripts = f"{warm_program.bin_folder()}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", READER],
        cwd=tmp_path,
        env={**os.environ, "PATH": scripts, "XDG_CONFIG_HOME": str(tmp_path / "xdg")},
        input=json.dumps(examples),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "selected.txt").read_text().count("\n") == 2


def test_every_command_has_a_section_with_an_example() -> None:
    """A command that is not described is not there."""
    assert isinstance(cli, click.Group)
    described = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", DOCS, re.DOTALL | re.MULTILINE))
    assert described.keys() == cli.commands.keys()
    assert all(f"skilleval {name}" in text for name, text in described.items())
