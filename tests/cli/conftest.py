"""The program, run as a user runs it, in an empty folder and with nothing of the user's own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from warm_program import SCRIPT, WarmProgram

__all__ = ["EXAMPLES", "ROOT", "SCRIPT", "Done", "Run"]

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples" / "skills"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended, and the folder in which it ran."""

    folder: Path
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    def run_folder(self) -> Path:
        """The folder of the run that the document tells of."""
        return self.folder / str(self.document["run_dir"])


Run = Callable[..., Done]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Give an environment without the user's own settings."""
    return {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "xdg"), "COLUMNS": "140", "NO_COLOR": "1"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give an empty working folder."""
    made = tmp_path / "project"
    made.mkdir()
    return made


def _done(folder: Path, done: subprocess.CompletedProcess[str]) -> Done:
    assert "Traceback" not in done.stderr, done.stderr
    return Done(folder=folder, code=done.returncode, out=done.stdout, err=done.stderr)


@pytest.fixture
def run(folder: Path, environment: Mapping[str, str], warm_program: WarmProgram) -> Run:
    """Run `skilleval` in the empty folder: a process of its own that need not import the package first."""

    def call(*arguments: str | Path) -> Done:
        done = warm_program.run([str(one) for one in arguments], folder=folder, environment=environment)
        return _done(folder, done)

    return call


@pytest.fixture
def run_script(folder: Path, environment: Mapping[str, str]) -> Run:
    """Run the installed console script in the empty folder; each command has a test that does."""

    def call(*arguments: str | Path) -> Done:
        command: Sequence[str] = [str(SCRIPT), *(str(one) for one in arguments)]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        return _done(folder, done)

    return call


@pytest.fixture
def replayed(folder: Path) -> Callable[[Mapping[str, Any]], list[str]]:
    """Give arguments that evaluate a skill on two tasks by recorded attempts: task id → line of the recording."""

    def arguments(recorded: Mapping[str, Any]) -> list[str]:
        skill = folder / "skill"
        skill.mkdir(exist_ok=True)
        manifest = {
            "id": "recorded",
            "name": "Recorded",
            "version": "1.0.0",
            "description": "",
            "adapterType": "subprocess",
            "entrypoint": "never run",
        }
        (skill / "skill.json").write_text(json.dumps(manifest))
        tasks = [
            {"id": name, "description": "", "inputData": {}, "expectedOutput": {"type": "exact", "value": 1}}
            for name in ("t1", "t2")
        ]
        (folder / "tasks.json").write_text(json.dumps(tasks))
        lines = [json.dumps({"task_id": name, **line}) for name, line in recorded.items()]
        (folder / "recorded.jsonl").write_text("\n".join(lines) + "\n")
        return ["--skills", "skill", "--tasks", "tasks.json", "adapter=replay", "adapter.path=recorded.jsonl"]

    return arguments
