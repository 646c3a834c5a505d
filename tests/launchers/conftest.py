"""A small sweep of four jobs, run through any launcher in a folder of its own.

What starts processes of a launcher is the installed script; what is asked before and after is asked of the program
that has been imported already.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from small_skills import write_skill
from warm_program import SCRIPT, WarmProgram

# Right on the tasks with an even number; it takes its time while the file `slow` is there.
_PROGRAM = """import json, os, sys, time
request = json.load(sys.stdin)
with open("MARKS", "a") as marks:
    marks.write("called\\n")
if os.path.exists("SLOW"):
    time.sleep(5)
answer = "it is 1" if request["params"]["n"] % 2 else 1
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"result": answer}}))
"""
N_TASKS = 8
GRID = ("scorer=exact,contains", "runner.repeats=1,2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A folder with a skill and tasks, and the program to sweep over them."""

    folder: Path
    warm: WarmProgram

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "XDG_CONFIG_HOME": str(self.folder / "xdg"), "NO_COLOR": "1"}

    def ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `skilleval` there where it starts no launcher."""
        return self.warm.run(arguments, folder=self.folder, environment=self._environment)

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the installed `skilleval` there."""
        return subprocess.run(
            [str(SCRIPT), *arguments],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def sweep(self, *overrides: str, grid: tuple[str, ...] = GRID) -> subprocess.CompletedProcess[str]:
        """Sweep over the grid; each job makes its own calls."""
        run = self.call if any("launcher" in override for override in overrides) else self.ask
        return run(
            "eval", "-m", "--skills", "skills", "--tasks", "tasks.json", "sandbox=none", "runner.cache=off",
            *grid, *overrides, "--json",
        )  # fmt: skip

    def calls(self) -> int:
        """Count the calls of the skill so far."""
        path = self.folder / "marks"
        return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def project(tmp_path: Path, warm_program: WarmProgram) -> Project:
    """Give a project with one skill and eight tasks."""
    folder = tmp_path / "project"
    skill = write_skill(folder / "skills", "even")
    program = _PROGRAM.replace("SLOW", str(folder / "slow")).replace("MARKS", str(folder / "marks"))
    (skill / "skill.py").write_text(program)
    tasks = [
        {
            "id": f"t{number}",
            "description": "",
            "inputData": {"n": number},
            "expectedOutput": {"type": "exact", "value": 1},
        }
        for number in range(N_TASKS)
    ]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    return Project(folder=folder, warm=warm_program)


def metrics(document: Any) -> list[Any]:
    """Give what a sweep measured, job by job, without what the clock says."""
    assert document["exit_code"] == 0, document
    return [
        [
            [text for text in job["overrides"] if text.startswith(("scorer", "runner"))],
            [_timeless(row) for row in job["summary"]],
        ]
        for job in sorted(document["runs"], key=lambda one: one["job"])
    ]


def _timeless(row: dict[str, Any]) -> dict[str, Any]:
    clock = {"ms", "latency", "speed", "composite"}
    return {key: value for key, value in row.items() if not clock & set(key.split("_"))}


def same_as_basic(project: Project, *launcher: str) -> None:
    """Check that a launcher comes to the metrics of the basic one."""
    swept = project.sweep(*launcher)
    assert "Traceback" not in swept.stderr, swept.stderr
    assert swept.stdout, swept.stderr
    found = metrics(json.loads(swept.stdout))
    expected = metrics(json.loads(project.sweep().stdout))
    shown = [[row["completion_rate"] for row in rows] for _, rows in expected]
    assert shown == [[0.5], [0.5], [1.0], [1.0]]
    assert found == expected
