from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_skills import said, write_skill, write_tasks

from skilleval.app.keys import build_redactor
from skilleval.config.compose import compose_settings

KEY = "zq/hunter-5577+é"
_PRINTS = """import json, os, sys, urllib.parse
request, key = json.load(sys.stdin), os.environ.get("MY_KEY", "nothing")
print(key, [key], ascii(key), urllib.parse.quote(key, safe=""), key.encode(), file=sys.stderr)
if FAILS:
    sys.exit("no use: " + json.dumps({"key": key}))
answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"result": [key, {key: json.dumps(key)}]}}
print(json.dumps(answer))
"""
_SPELLINGS = ("zq/hunter", "zq%2Fhunter", "hunter", "er-5577")


def _printing(root: Path, skill_id: str, *, fails: bool = False) -> Path:
    folder = write_skill(root, skill_id)
    (folder / "skill.py").write_text(_PRINTS.replace("FAILS", str(fails)), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _with_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a key into the environment."""
    monkeypatch.setenv("MY_KEY", KEY)


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Give two tasks."""
    return write_tasks(tmp_path / "tasks.json")


@pytest.mark.parametrize("sandbox", ["none", "process"])
def test_a_key_that_a_skill_prints_is_in_no_file(tmp_path: Path, tasks: Path, sandbox: str) -> None:
    """Whatever the sandbox, the value of a variable of sandbox.pass_env becomes `***` in rows, reports, terminal."""
    skills = [_printing(tmp_path, "right"), _printing(tmp_path, "broken", fails=True)]
    done = said(
        *("eval", *skills, "--tasks", tasks, f"sandbox={sandbox}", "sandbox.pass_env=[MY_KEY]"),
        *("scorer=[exact,contains]", f"paths.output_dir={tmp_path / 'out'}"),
        *("--format", "html", "json", "csv", "markdown"),
    )
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(written) > 5, done.err
    for text in (done.out.encode(), done.err.encode(), *(path.read_bytes() for path in written)):
        assert [part for part in _SPELLINGS if part.encode() in text] == []
    assert "***" in done.out + done.err
    manifest = json.loads(next(path for path in written if path.name == "manifest.json").read_text())
    assert manifest["privacy"]["n_redacted"] == 0


def test_a_key_is_not_shown_by_an_ad_hoc_call(tmp_path: Path) -> None:
    """`task` prints what the skill said without the key that it was given."""
    skill = _printing(tmp_path, "right")
    asked = ("task", "--skill", skill, "--input", "{}", "sandbox=none", "sandbox.pass_env=[MY_KEY]", "--json")
    done = said(*asked)
    assert done.document["output"] == {"result": ["***", {"***": '"***"'}]}
    assert [part for part in _SPELLINGS if part in done.out + done.err] == []


@pytest.mark.parametrize("sandbox", ["none", "process"])
def test_a_variable_that_is_not_set_is_said_before_the_first_trial(
    tmp_path: Path, tasks: Path, sandbox: str
) -> None:
    """A misspelt name in sandbox.pass_env would else be found by a failing skill."""
    skill = _printing(tmp_path, "right")
    wanted = ("sandbox.pass_env=[MY_KEY,SURELY_NOT_SET]", f"sandbox={sandbox}", "--dry-run")
    done = said("eval", skill, "--tasks", tasks, *wanted)
    assert "sandbox.pass_env names SURELY_NOT_SET, which is not set here" in done.out + done.err
    assert "names MY_KEY" not in done.out + done.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ANY", "short"),
        ("LANG", "de_DE.UTF-8"),
        ("MODE", "Production"),
        ("MODELS", "/usr/bin"),
        ("PATHS", "/usr:/nowhere"),
    ],
)
def test_what_is_no_secret_stays_readable(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short values, locales, words of settings and paths of this machine are not looked for."""
    monkeypatch.setenv(name, value)
    assert _redacted(name, f"it is {value}") == f"it is {value}"


@pytest.mark.parametrize("value", ["123456", "/b64+key==", "postgres://me:secret@db/x", "line one\nline two"])
def test_what_may_be_a_secret_is_looked_for(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers, what only looks like a path, addresses, and each line of what has several."""
    monkeypatch.setenv("ANY", value)
    assert _redacted("ANY", f"it is {value}") == "it is ***"
    last = value.splitlines()[-1]
    assert _redacted("ANY", f"exit code 1: {last}") == "exit code 1: ***"


def _redacted(name: str, text: str) -> str:
    words = ["skill_set=examples", "benchmark=coding-easy", f"sandbox.pass_env=[{name}]"]
    settings = compose_settings(words, project=Path("/nowhere")).settings
    line = build_redactor(settings, ()).line({"trial": {}, "tries": [{"stderr": text}], "scores": []})
    return str(line["tries"][0]["stderr"])
