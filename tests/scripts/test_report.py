"""What `make report` runs: evaluate, compare, gate, and three files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from warm_program import WarmProgram

SCRIPT = Path(__file__).parents[2] / "scripts" / "report.sh"
_SETTINGS = """
skill_set: {paths: [skill]}
benchmark: {tasks: tasks.json}
gate: {rules: [{regression: completion_rate, at_most: 0}]}
"""


def project(folder: Path) -> None:
    """Write a skill that is never run, its two tasks and what the project wants."""
    manifest = {"id": "recorded", "name": "Recorded", "version": "1.0.0", "description": ""}
    manifest |= {"adapterType": "subprocess", "entrypoint": "never run"}
    (folder / "skill").mkdir()
    (folder / "skill" / "skill.json").write_text(json.dumps(manifest))
    expected = {"type": "exact", "value": 1}
    tasks = [{"id": i, "description": "", "inputData": {}, "expectedOutput": expected} for i in ("t1", "t2")]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    (folder / "skilleval.yaml").write_text(_SETTINGS)


@pytest.fixture
def environment(tmp_path: Path, warm_program: WarmProgram) -> dict[str, str]:
    """Give variables of a virtual environment whose program has been imported already."""
    venv = tmp_path / "venv" / "bin"
    venv.mkdir(parents=True)
    (venv / "skilleval").symlink_to(warm_program.bin_folder() / "skilleval")
    (venv / "python").symlink_to(sys.executable)
    return {**os.environ, "VENV": str(venv.parent), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}


def report(folder: Path, environment: Mapping[str, str], second: int) -> subprocess.CompletedProcess[str]:
    """Record what the skill says to its second task, and run the script."""
    lines = [json.dumps({"task_id": name, "output": value}) for name, value in (("t1", 1), ("t2", second))]
    (folder / "recorded.jsonl").write_text("\n".join(lines) + "\n")
    settings = ["adapter=replay", "adapter.path=recorded.jsonl", "scorer=exact", "sandbox=none"]
    return subprocess.run(
        ["bash", str(SCRIPT), *settings],
        cwd=folder,
        env={**environment, "REPORT_DIR": "ci"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_make_report_is_a_verdict_and_three_files(tmp_path: Path, environment: dict[str, str]) -> None:
    """The first run has nothing to compare with and passes; a task that broke since then is exit code 1."""
    project(tmp_path)
    first = report(tmp_path, environment, 1)
    assert first.returncode == 0, first.stderr
    assert "no baseline: no earlier run of " in first.stdout
    second = report(tmp_path, environment, 2)
    assert second.returncode == 1, second.stderr
    assert "regression of completion_rate ≤ 0" in second.stdout
    files = sorted(path.name for path in (tmp_path / "ci").iterdir())
    assert files == ["junit.xml", "report.html", "summary.md"]


def test_make_report_ends_with_the_error_of_a_run_that_cannot_start(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """Without a run there is no gate: the exit code is that of the evaluation."""
    project(tmp_path)
    (tmp_path / "tasks.json").unlink()
    done = report(tmp_path, environment, 1)
    assert done.returncode == 2
    assert "tasks.json" in done.stderr
