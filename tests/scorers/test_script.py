"""A script of the task's author judges the files of an attempt, in the sandbox."""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from samples import record

from skilleval.domain.files import FileKind, TaskFile
from skilleval.domain.scores import Verdict
from skilleval.domain.tasks import Evaluator
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions
from skilleval.scorers.base import MISSING, Finding, ScoringRecord
from skilleval.scorers.script import ScriptOptions, ScriptScorer

SCORER = ScriptScorer(
    ScriptOptions(command=(), timeout_ms=10_000, pass_at=1.0), NoSandbox(NoSandboxOptions(pass_env=()))
)
P, F, U = Verdict.PASSED, Verdict.FAILED, Verdict.UNGRADED

Judge = Callable[..., tuple[Finding, ...]]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Judge an output by a Python script with this source, which stands beside the task."""

    def judged(source: str, output: Any = "Total: 12", **changes: Any) -> tuple[Finding, ...]:
        (tmp_path / "check.py").write_text(source, encoding="utf-8")
        return asyncio.run(SCORER.findings(attempt(tmp_path, output=output, **changes)))

    return judged


def attempt(
    folder: Path, *, script: Any = "check.py", output: Any = "Total: 12", **changes: Any
) -> ScoringRecord:
    """Give an attempt whose task names a script."""
    seen = replace(record(output, expected={"script": script}), folder=folder, input={"prompt": "Add up."})
    return replace(seen, **changes)


@pytest.mark.parametrize(
    ("source", "verdict", "score"),
    [
        ("", P, 1.0),
        ("raise SystemExit(1)", F, 0.0),
        ("assert 1 == 2, 'no total'", F, 0.0),
        ("print('looks good')", P, 1.0),
        ("print('{\"passed\": false}')", F, 0.0),
        ('print(\'{"score": 0.25, "passed": true}\')', P, 0.25),
        ("print('{\"score\": 0.25}')", F, 0.25),
        ("print('\\ufeff{\"passed\": false}')", F, 0.0),
        ("print('seen: {\"total\": 12}')", P, 1.0),
        ("print('{\"score\": 0.25}'); raise SystemExit(1)", F, 0.25),
    ],
)
def test_exit_code_or_json_decides(judge: Judge, source: str, verdict: Verdict, score: float) -> None:
    """0 passes and 1 fails; an object on stdout says more, and then counts."""
    (one,) = judge(source)
    assert (one.verdict, one.score, one.check_id, one.check) == (verdict, score, "script", "check.py")
    assert one.verdict is P or one.reason


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("print('checking'); print('{\"passed\": false}')", "does not stand alone on stdout"),
        ("print('checking'); print('{\\n \"score\": 0\\n}')", "does not stand alone on stdout"),
        ("raise SystemExit(2)", "it broke (exit code 2)"),
        ("import nothing_like_it", "it broke (ModuleNotFoundError: No module named 'nothing_like_it')"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "it broke (exit code -9)"),
        ("print('{\"score\": 2}')", "its verdict cannot be used (score:"),
        ("print('{\"score\": NaN}')", "its verdict cannot be used (score:"),
        ("print('{\"passed\": 1}')", "its verdict cannot be used (passed:"),
        ("print('{\"good\": true}')", "its verdict cannot be used (good:"),
        ("print('{\"score\": 0.2')", "its verdict is no JSON"),
        ("print('{}')", "neither passed nor score nor checks"),
        ('print(\'{"passed": true, "score": 0}\')', "contradict"),
        ("print('{\"passed\": true}'); raise SystemExit(1)", "passed, and exit code 1"),
        ('print(\'{"checks": [{"id": "a"}]}\')', "neither is given"),
        ('print(\'{"checks": [{"passed": true}]}\')', "checks.0.id"),
        ("print('x' * 2_000_000)", "it wrote more than 1000000 bytes"),
    ],
)
def test_anything_else_is_ungraded(judge: Judge, source: str, why: str) -> None:
    """A script that breaks, or says something unclear, says nothing about the skill; a traceback is no failure."""
    (one,) = judge(source)
    assert (one.verdict, one.score, one.failure_kind) == (U, None, "judge_error")
    assert why in one.reason
    assert one.reason.startswith("script_error: ")


def test_a_script_has_a_time_limit(tmp_path: Path) -> None:
    """One that takes too long is ended and leaves the task ungraded."""
    (tmp_path / "check.py").write_text("import time; time.sleep(60)")
    began = time.monotonic()
    seen = attempt(tmp_path, evaluator=Evaluator(kind="script", options={"timeout_ms": 300.0}))
    (one,) = asyncio.run(SCORER.findings(seen))
    assert (one.verdict, one.failure_kind) == (U, "judge_error")
    assert "longer than 300 ms" in one.reason
    assert time.monotonic() - began < 50


def test_checks_of_a_script_are_findings_of_their_own(judge: Judge) -> None:
    """Without a verdict on the whole each check counts; with one they only explain it."""
    checks = '[{"id": "sum", "passed": true}, {"id": "unit", "score": 0.5, "reason": "no unit"}]'
    alone = judge(f"print('{{\"checks\": {checks}}}')")
    assert [(one.check_id, one.verdict, one.score, one.required) for one in alone] == [
        ("sum", P, 1.0, True),
        ("unit", F, 0.5, True),
    ]
    assert alone[1].reason == "no unit"
    whole = judge(f'print(\'{{"passed": true, "checks": {checks}}}\')')
    assert [(one.check_id, one.weight, one.required) for one in whole] == [
        ("script", 1.0, True),
        ("sum", 0.0, False),
        ("unit", 0.0, False),
    ]


LISTING = """
import json, os, pathlib
found = {str(path): path.read_text() for path in sorted(pathlib.Path().rglob('*')) if path.is_file()}
evals = os.path.isfile(os.path.join(os.environ['SKILLEVAL_EVALS'], 'check.py'))
print(json.dumps({'passed': True, 'reason': json.dumps([found, evals])}))
"""


def test_the_attempt_is_laid_out_as_files(judge: Judge, tmp_path: Path) -> None:
    """Output, tool calls, inputs, prompt and expectation are there; the author's files are found by a variable."""
    source = tmp_path / "in.csv"
    source.write_bytes(b"1,2")
    digest = hashlib.sha256(b"1,2").hexdigest()
    file = TaskFile(name="q/in.csv", source=source, n_bytes=3, digest=digest, kind=FileKind.TEXT, text="1,2")
    calls = ({"id": "1", "name": "f", "arguments": "{"},)
    (one,) = judge(LISTING, files=(file,), tool_calls=calls)
    files, evals_are_there = json.loads(one.reason)
    assert evals_are_there
    assert list(files) == ["attempt.json", "inputs/q/in.csv", "outputs/response.txt", "tool_calls.json"]
    assert files["outputs/response.txt"] == "Total: 12"
    assert files["inputs/q/in.csv"] == "1,2"
    assert json.loads(files["tool_calls.json"]) == list(calls)
    assert json.loads(files["attempt.json"]) == {
        "prompt": "Add up.",
        "input": {"prompt": "Add up."},
        "expected": {"script": "check.py"},
    }


@pytest.mark.parametrize(
    ("output", "files"),
    [
        ({"sum": 12}, {"outputs/output.json": {"sum": 12}}),
        (None, {"outputs/output.json": None}),
        (MISSING, {}),
    ],
)
def test_outputs_that_are_no_text_are_json(judge: Judge, output: Any, files: dict[str, Any]) -> None:
    """Objects and null are written as JSON; an attempt without output has no file of it."""
    (one,) = judge(LISTING, output)
    found = {name: json.loads(text) for name, text in json.loads(one.reason)[0].items() if "outputs/" in name}
    assert found == files


@pytest.mark.parametrize(
    "script",
    [
        "check.py",
        "python check.py",
        ["python3", "check.py"],
        {"command": "check.py"},
        "evals/check.py --strict",
    ],
)
def test_a_command_names_files_beside_the_task(tmp_path: Path, script: Any) -> None:
    """A text is split into words, a list is taken as it is; files are found in the evals' folder and the skill's."""
    evals = tmp_path / "evals"
    evals.mkdir()
    (evals / "check.py").write_text("import sys; raise SystemExit('outputs' not in str(sys.path) and 0)")
    (one,) = asyncio.run(SCORER.findings(attempt(evals, script=script)))
    assert one.verdict is P
    assert str(tmp_path) not in one.check


@pytest.mark.parametrize(
    "script", ['check.py "', [], "", 3, ["check.py", 3], [""], {"command": None, "x": 1}]
)
def test_a_command_that_is_none_is_ungraded(tmp_path: Path, script: Any) -> None:
    """Open quotes, empty lists and other values run nothing."""
    (one,) = asyncio.run(SCORER.findings(attempt(tmp_path, script=script)))
    assert one.verdict is U


def test_a_program_that_is_not_there_is_ungraded(tmp_path: Path) -> None:
    """The reason says that it could not start."""
    (one,) = asyncio.run(SCORER.findings(attempt(tmp_path, script="no-such-program --x")))
    assert (one.verdict, one.failure_kind) == (U, "judge_error")
    assert "could not start" in one.reason


def test_the_command_of_the_options_judges_tasks_without_one(tmp_path: Path) -> None:
    """It stands in for tasks that name none; without either there is nothing to check."""
    (tmp_path / "check.py").write_text("")
    options = ScriptOptions(command=("check.py",), timeout_ms=10_000, pass_at=1.0)
    own = ScriptScorer(options, NoSandbox(NoSandboxOptions(pass_env=())))
    (one,) = asyncio.run(own.findings(replace(record("x"), folder=tmp_path)))
    assert one.verdict is P
    (none,) = asyncio.run(SCORER.findings(record("x")))
    assert none.reason.startswith("nothing to check")


def test_the_script_is_part_of_what_is_hashed(tmp_path: Path) -> None:
    """Another content of the script is another judge; a command whose program is unknown is never reused."""
    seen = attempt(tmp_path)
    (tmp_path / "check.py").write_text("1")
    first = SCORER.fingerprint(seen)
    assert first
    assert first == SCORER.fingerprint(seen)
    (tmp_path / "check.py").write_text("2")
    assert SCORER.fingerprint(seen) not in {first, None}
    assert SCORER.fingerprint(attempt(tmp_path, script="grade-all")) is None
    assert SCORER.fingerprint(record("x")) == ""


def test_nothing_is_left_behind(judge: Judge) -> None:
    """The folder of the attempt is removed, with all that the script wrote into it."""
    (one,) = judge(
        "import json, os; open('new', 'w'); print(json.dumps({'passed': True, 'reason': os.getcwd()}))"
    )
    assert one.reason.startswith(str(Path(tempfile.gettempdir()).resolve()))
    assert not Path(one.reason).exists()
