"""Small Python programs, run with some of their rights taken away by the real launcher."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.sandboxes.base import Completed
from skilleval.sandboxes.confinement import Answers, Confinement

PYTHON = str(Path(sys.executable).resolve())
NEEDED_BY_PYTHON = tuple(
    path
    for path in (Path(sys.base_prefix), *map(Path, ("/usr", "/lib", "/lib64", "/etc/ld.so.cache")))
    if path.exists()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a confined program ended: as the system saw it, and as its sandbox tells it."""

    code: int
    out: str
    err: str
    verdict: Completed

    @property
    def document(self) -> Any:
        """The JSON on its stdout."""
        assert self.code == 0, self.err
        return json.loads(self.out)


def run_confined(
    confinement: Confinement, *argv: str, folder: Path, env: dict[str, str] | None = None
) -> Ended:
    """Run a program to its end."""
    answers, env = Answers(), env or {}
    line = confinement.command_line(argv, env=env, answers=answers.descriptor)
    done = subprocess.run(
        line,
        cwd=folder,
        env=env,
        pass_fds=(answers.descriptor,),
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=120,
        check=False,
    )
    answers.close()
    completed = Completed(
        exit_code=done.returncode,
        stdout=os.fsencode(done.stdout),
        stderr=os.fsencode(done.stderr),
        duration_ms=1.0,
        spawn_ms=1.0,
    )
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr, verdict=answers.verdict(completed))


def run_python(confinement: Confinement, program: str, *arguments: object, folder: Path) -> Ended:
    """Run the text of a Python program."""
    return run_confined(
        confinement, PYTHON, "-I", "-S", "-c", program, *(str(one) for one in arguments), folder=folder
    )
