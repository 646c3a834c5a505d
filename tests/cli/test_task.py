from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli.conftest import SCRIPT, Run
from small_skills import said, write_skill


@pytest.fixture(autouse=True)
def echo(folder: Path) -> Path:
    """Write a skill that gives back what it got, sleeps if asked to, and breaks without a text."""
    own = write_skill(folder, "echo")
    (own / "skill.py").write_text(
        "import json, sys, time\n"
        "request = json.load(sys.stdin)\n"
        "time.sleep(request['params'].get('sleep_s', 0))\n"
        "result = {'result': request['params']['text']}\n"
        "print(json.dumps({'jsonrpc': '2.0', 'id': request['id'], 'result': result}))\n"
    )
    return own


@pytest.mark.parametrize(
    ("arguments", "code", "verdict"),
    [
        ([], 0, None),
        (["--exact", '"a, b"'], 0, "passed"),
        (["--exact", "5"], 1, "failed"),
        (["--contains", "a, b"], 0, "passed"),
        (["--contains", "a", "c"], 1, "failed"),
        (["--regex", "^a, .{1,2}$"], 0, "passed"),
        (["--regex", "^a", "^b"], 1, "failed"),
        (["--schema", '{"type": "string"}'], 0, "passed"),
        (["--schema", '{"type": "string", "maxLength": 1}'], 1, "failed"),
        (["--regex", "(unclosed"], 4, "ungraded"),
    ],
)
def test_exit_code_and_verdict_say_how_it_went(
    echo: Path, arguments: list[str], code: int, verdict: str | None
) -> None:
    """0 passed or nothing to check, 1 not passed, 4 not to be judged."""
    done = said("task", "--skill", echo, "--input", '{"text": "a, b"}', *arguments, "--json")
    assert done.code == code, done.err
    document = done.document
    assert (document["exit_code"], document["status"], document["verdict"]) == (code, "completed", verdict)
    assert document["output"] == {"result": "a, b"}
    assert document["latency_ms"] > 0


def test_a_scorer_of_ones_own_judges_and_nothing_is_stored(run: Run, folder: Path) -> None:
    """--custom names a file from where the user stands; the folder is as it was."""
    (folder / "mine.py").write_text(
        "def score(output, expected, input):\n    return output['result'] == 'a'\n"
    )
    done = run("task", "--skill", "echo", "--input", '{"text": "a"}', "--custom", "mine.py", "--json")
    assert (done.code, done.document["verdict"]) == (0, "passed"), done.out
    assert sorted(path.name for path in folder.iterdir()) == ["echo", "mine.py"]


@pytest.mark.parametrize(
    ("given", "options", "status"),
    [({}, [], "skill_error"), ({"text": "a", "sleep_s": 30}, ["--timeout", "300"], "timeout")],
)
def test_a_call_that_does_not_complete_exits_3(
    echo: Path, given: Mapping[str, object], options: list[str], status: str
) -> None:
    """An error and a time-out are errors, also with nothing to check; --output json is one document."""
    done = said("task", "--skill", echo, "--input", json.dumps(given), *options, "--output", "json")
    assert (done.code, done.document["status"]) == (3, status), done.err


def test_no_more_is_shown_than_a_run_stores(echo: Path) -> None:
    """Of a flood on stderr the end is told, of its last line the beginning."""
    (echo / "skill.py").write_text("import sys\nsys.exit('x' * 70_000)\n")
    done = said("task", "--skill", echo, "--input", "{}", "--json")
    assert (done.code, done.document["status"]) == (3, "skill_error")
    assert done.document["stderr"] == "…" + "x" * 4095 + "\n"
    assert len(done.document["message"]) <= 500


@pytest.mark.parametrize(
    "arguments",
    [
        ["--input", "[1]"],
        ["--input", "{"],
        ["--input", '{"a": NaN}'],
        ["--input", '{"o": 1, "o": 2}'],
        ["--input", "{}", "--schema", '{"type": {"a": 1, "a": 1}}'],
        ["--input", '{"a": 1e999}'],
        ["--input", "@nowhere.json"],
        ["--input", "{}", "--exact", "bare"],
        ["--input", "{}", "--exact", "1", "--contains", "1"],
        ["--input", "{}", "--schema", "3"],
        ["--input", "{}", "--timeout", "0"],
        ["--input", "{}", "runner.nonsense=1"],
        ["--input", "{}", "runner.repeats=2"],
        ["--input", "{}", "stray"],
        [],
    ],
)
def test_what_cannot_be_asked_exits_2_and_names_no_file_of_ours(echo: Path, arguments: list[str]) -> None:
    """Each mistake is told by the option it stands in."""
    done = said("task", "--skill", echo, *arguments)
    assert done.code == 2, done.err
    assert "adhoc.json" not in done.err
    assert done.out == ""


def test_a_folder_of_several_skills_is_not_one_skill(echo: Path) -> None:
    """One call has one skill, and the error names those that were found."""
    write_skill(echo.parent, "other")
    done = said("task", "--skill", echo.parent, "--input", "{}")
    assert done.code == 2
    assert "echo 1.0.0, other 1.0.0" in done.err


def test_the_input_comes_from_a_file_or_from_stdin(
    run: Run, folder: Path, environment: Mapping[str, str]
) -> None:
    """`@FILE` and `-` are read; the answer is told in lines for people."""
    (folder / "input.json").write_text('{"text": "from a file"}')
    done = run("task", "--skill", "echo", "--input", "@input.json", "--exact", '"from a file"')
    assert done.code == 0, done.err
    assert 'output:  {"result": "from a file"}' in done.out
    assert "verdict: passed" in done.out
    piped = subprocess.run(
        [SCRIPT, "task", "--skill", "echo", "--input", "-"],
        cwd=folder, env=environment, input='{"text": "piped"}', capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert piped.returncode == 0, piped.stderr
    assert "piped" in piped.stdout
