"""Every command once as the installed script: other tests run it in a process that has imported the package before."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from cli.conftest import EXAMPLES, SCRIPT, Run
from stored_runs import TASKS, Runs
from warm_program import WarmProgram

from skilleval.cli import cli

# Where another test starts the script.
ELSEWHERE = {
    "config": "test_configuration.py",
    "demo": "test_evaluation.py",
    "doctor": "test_doctor.py",
    "eval": "test_evaluation.py, test_robustness.py, test_resume.py",
    "report": "test_robustness.py",
    "sandbox": "test_sandbox.py",
    "task": "test_task.py",
}
READING = (
    "benchmark show coding-easy",
    "cache stats",
    "diff previous latest --store work/out",
    "find --skills-dir work",
    "gate latest --store work/out gate.min_completion=0.5",
    "history --store work/out",
    "items latest --store work/out",
    "merge work/out --output-dir merged --dry-run",
    "power --rate 0.7 --icc 0.4 --difference 0.05",
    "push --store work/out",
    "schema strategy",
    "select --from work/skill --store work/out --min-completion 0.5",
    "slices latest --store work/out --by family",
    "sweep status latest --store work/out",
    "verify work",
)
WRITING = (
    "create --name my-skill",
    "init study",
    "import theirs.json --skill booking --benchmark airline --output-dir imported",
    "paper latest --store work/out --out paper",
    f"run --query calculator --skills-dir {EXAMPLES} --benchmark coding-easy --top-k 1",
    "score latest --store work/out scorer=exact",
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with two runs and a report of others, which no test changes."""
    folder = tmp_path_factory.mktemp("script")
    runs = Runs(folder / "work")
    runs.run(wrong=TASKS[1:])
    runs.run()
    trial = '{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": []}'
    (folder / "theirs.json").write_text(f"[{trial}]", encoding="utf-8")
    return folder


def test_every_command_is_started_as_the_script() -> None:
    """Here or in the place that is named."""
    assert isinstance(cli, click.Group)
    here = {line.partition(" ")[0] for line in (*READING, *WRITING)}
    assert cli.commands.keys() <= ELSEWHERE.keys() | here


@pytest.mark.parametrize("line", READING)
def test_the_warm_program_says_what_the_script_says(
    prepared: Path, environment: Mapping[str, str], warm_program: WarmProgram, line: str
) -> None:
    """Exit code, results and remarks are the same, byte for byte."""
    script = subprocess.run(
        [SCRIPT, *line.split()], cwd=prepared, env=environment, capture_output=True, text=True, check=False
    )
    warm = warm_program.run(line.split(), folder=prepared, environment=environment)
    told = (script.returncode, script.stdout, script.stderr)
    assert told == (warm.returncode, warm.stdout, warm.stderr)
    assert any(told[1:])


@pytest.mark.parametrize("line", WRITING)
def test_the_script_does_what_changes_a_folder(
    prepared: Path, run_script: Run, folder: Path, line: str
) -> None:
    """It exits 0 in a folder of its own."""
    shutil.copytree(prepared, folder, dirs_exist_ok=True)
    done = run_script(*line.split())
    assert done.code == 0, done.err
    assert done.out
