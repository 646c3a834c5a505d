"""Whole runs on the engine, through the console script: what is left after them, and that all kinds of skills run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from containers.boxes import containers
from naps import Nap
from small_skills import write_skill, write_tasks

pytestmark = pytest.mark.docker
SCRIPT = Path(sys.executable).parent / "skilleval"


def _words(root: Path, skill: Path, tasks: Path, *more: str) -> list[str]:
    return [
        str(SCRIPT), "eval", "--skills", str(skill), "--tasks", str(tasks), "--output-dir", str(root / "out"),
        "--format", "json", "--json", "sandbox=docker", *more,
    ]  # fmt: skip


def _done(root: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=root, capture_output=True, text=True, timeout=120, check=False)


def _evaluated(root: Path, skill: Path, tasks: Path, *more: str) -> Any:
    done = _done(root, _words(root, skill, tasks, *more))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@contextmanager
def _running(root: Path, skill: Path, nap: Nap) -> Iterator[subprocess.Popen[bytes]]:
    (skill / "skill.py").write_text(f"import time\ntime.sleep({nap.seconds})\n")
    manifest = json.loads((skill / "skill.json").read_text())
    (skill / "skill.json").write_text(json.dumps({**manifest, "entrypoint": f"sleep {nap.seconds}"}))
    words = _words(root, skill, write_tasks(root / "tasks.json"))
    with subprocess.Popen(words, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        nap.wait_for(1)
        yield process


@pytest.mark.parametrize(
    "more", [(), ("sandbox.pool=2",), ("sandbox.reuse=true",), ("runner.isolation=worker",)]
)
def test_a_run_passes_and_leaves_nothing(tmp_path: Path, more: tuple[str, ...]) -> None:
    """Fresh, warm and shared containers and workers give the same answers, and are removed at the end."""
    skill = write_skill(tmp_path, "one")
    if more == ("runner.isolation=worker",):
        program = "import json, sys\nfor line in sys.stdin:\n    request = json.loads(line)\n"
        reply = '{"jsonrpc": "2.0", "id": request["id"], "result": {"result": 1}}'
        (skill / "skill.py").write_text(f"{program}    print(json.dumps({reply}), flush=True)\n")
    outcome = _evaluated(tmp_path, skill, write_tasks(tmp_path / "tasks.json"), *more)
    assert outcome["statuses"] == {"completed": 2}
    assert [row["completion_rate"] for row in outcome["summary"]] == [1.0]


def test_functions_and_scorers_run_too(tmp_path: Path) -> None:
    """A Python function runs by the image's Python; the scorer of the benchmark's author by that of this machine."""
    skill = write_skill(tmp_path, "one", adapterType="python", entrypoint="skill:answer")
    (skill / "skill.py").write_text("import sys\ndef answer(value):\n    return sys.executable\n")
    (tmp_path / "judge.py").write_text(
        "import sys\ndef score(output, expected, input):\n"
        "    return output == '/usr/bin/python3' and sys.executable == expected['python']\n"
    )
    expected = {"type": "custom", "customScorerPath": "judge.py", "python": sys.executable}
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps([{"id": "t", "inputData": {}, "expectedOutput": expected}]))
    outcome = _evaluated(tmp_path, skill, tasks)
    assert [row["completion_rate"] for row in outcome["summary"]] == [1.0]


def test_after_an_interruption_nothing_is_left(tmp_path: Path, nap: Nap) -> None:
    """Ctrl-C ends the program and removes its container before the command ends."""
    with _running(tmp_path, write_skill(tmp_path, "one"), nap) as process:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    assert nap.sleepers() == []
    assert containers(process.pid) == ()


def test_after_a_kill_by_force_prune_removes_what_is_left(tmp_path: Path, nap: Nap) -> None:
    """Only the containers of the dead evaluator are removed; `--dry-run` removes none; a living one keeps its own."""
    with _running(tmp_path, write_skill(tmp_path, "one"), nap) as process:
        alive = _done(tmp_path, [str(SCRIPT), "sandbox", "prune", "--json"])
        assert process.pid not in {one["pid"] for one in json.loads(alive.stdout)["removed"]}
        process.kill()
    assert containers(process.pid) != ()
    for options in (["--dry-run"], []):
        done = _done(tmp_path, [str(SCRIPT), "sandbox", "prune", "--json", *options])
        assert done.returncode == 0, done.stderr
        assert process.pid in {one["pid"] for one in json.loads(done.stdout)["removed"]}
        assert bool(containers(process.pid)) == bool(options)
    assert nap.sleepers() == []


def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path, nap: Nap) -> None:
    """Nobody has to know the command for it."""
    with _running(tmp_path, write_skill(tmp_path, "one"), nap) as process:
        process.kill()
    _evaluated(tmp_path, write_skill(tmp_path, "two"), write_tasks(tmp_path / "tasks.json"))
    assert containers(process.pid) == ()
    assert nap.sleepers() == []


def test_doctor_finds_the_engine(tmp_path: Path) -> None:
    """It tells version and address."""
    done = _done(tmp_path, [str(SCRIPT), "doctor", "--json"])
    (check,) = [check for check in json.loads(done.stdout) if check["area"] == "engine"]
    assert check["state"] == "ok"
    assert os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock") in check["found"]


@pytest.mark.parametrize(
    "command", [("eval", "--dry-run"), ("eval", "-m", "--dry-run"), ("doctor", "--egress")]
)
def test_what_runs_nothing_builds_nothing(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Building runs commands of a stranger, so it waits for a run; what could not be built is refused even so."""
    skill, tasks = write_skill(tmp_path, "one"), write_tasks(tmp_path / "tasks.json")
    (skill / "Dockerfile").write_text("FROM skilleval-base:py311\nUSER 0\nRUN exit 3\n")
    words = [f"skill_set.paths=[{skill}]", f"benchmark.tasks={tasks}", "sandbox=docker", "sandbox.build=true"]
    done = _done(tmp_path, [str(SCRIPT), *command, *words])
    assert done.returncode == 0, done.stderr
    (skill / "Dockerfile").write_text("FROM surely-no-such-image:1\n")
    refused = _done(tmp_path, [str(SCRIPT), *command, *words])
    assert refused.returncode == 3
    assert "the engine has no image" in refused.stderr + refused.stdout


def test_skills_without_their_program_are_those_of_the_image(tmp_path: Path) -> None:
    """`only_runnable` asks the image that skills run in: what this machine has does not help there."""
    here = Path(sys.executable).name  # such as python3.13, which the image has under another name
    write_skill(tmp_path / "all", "one")
    write_skill(tmp_path / "all", "two", entrypoint=f"{here}-only-here skill.py")
    tasks = write_tasks(tmp_path / "tasks.json")
    words = _words(tmp_path, tmp_path / "all", tasks, "--dry-run", "skill_set.only_runnable=true")
    facts = json.loads(_done(tmp_path, words).stdout)
    assert facts["skills"] == ["one 1.0.0"]
    assert f"two left out: {here}-only-here is not in the image skilleval-base:py311" in facts["warnings"]
