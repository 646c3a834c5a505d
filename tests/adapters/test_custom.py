from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from custom_adapters import CLOSED
from samples import skill

from skilleval.adapters.base import Call, isolation
from skilleval.adapters.custom import CustomAdapter, CustomOptions
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.skills import Skill
from skilleval.errors import AdapterError, ConfigError, SkillevalError
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

DOCS = Path(__file__).parents[2] / "docs" / "adapters.md"
NAMED = "custom_adapters:Named"


def _adapter(**changes: Any) -> CustomAdapter:
    values: dict[str, Any] = {"adapter_class": "", "allow": (), "options": {}}
    return CustomAdapter(CustomOptions(**(values | changes)), NoSandbox(NoSandboxOptions(pass_env=())))


def _skill(adapter_class: Any = None, **changes: Any) -> Skill:
    metadata = {} if adapter_class is None else {"adapterClass": adapter_class}
    return skill(adapter="custom", metadata=metadata, **changes)


def _asked(adapter: CustomAdapter, call: Call) -> Reply:
    async def reply() -> Reply:
        try:
            return await adapter.invoke(call)
        finally:
            await adapter.aclose()

    return asyncio.run(reply())


def test_the_class_of_the_settings_drives_every_skill(call: Callable[..., Call]) -> None:
    """It is given its options and the sandbox, is built once, and closed at the end."""
    adapter = _adapter(adapter_class=NAMED, options={"name": "ours"})
    adapter.check(_skill())
    CLOSED.clear()
    reply = _asked(adapter, call(skill=_skill("somebody:Else")))
    assert (reply.status, json.loads(reply.output or "")) == (Status.COMPLETED, ["ours in none", "adder"])
    assert CLOSED == ["ours in none"]


def test_a_skill_names_its_class_where_that_is_allowed(call: Callable[..., Call]) -> None:
    """By a pattern of the settings."""
    adapter = _adapter(allow=("custom_adapters:*",), options={"name": "its own"})
    adapter.check(_skill(NAMED))
    assert json.loads(_asked(adapter, call(skill=_skill(NAMED))).output or "")[0] == "its own in none"


def test_a_skill_cannot_have_code_of_its_choice_run_here() -> None:
    """Its class would run with the rights of the evaluator: nothing is imported that was not allowed."""
    with pytest.raises(AdapterError) as caught:
        _adapter(allow=("mine:*",)).check(_skill("antigravity:Fly"))
    (problem,) = caught.value.problems
    assert (problem.key, problem.expected, problem.found) == (
        "metadata.adapterClass",
        "mine:*",
        "antigravity:Fly",
    )
    assert "adapter.custom.allow=['antigravity:Fly']" in problem.hint
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (None, "expected module:Class, found nothing"),
        (3, "expected module:Class, found 3"),
        ("Named", "expected module:Class, found Named"),
        ("surely_no_such_module:A", "No module named 'surely_no_such_module'"),
        ("custom_adapters:Absent", "has no attribute 'Absent'"),
        ("custom_adapters:NoOptions", "expected an adapter class, found custom_adapters:NoOptions without"),
    ],
)
def test_what_is_no_adapter_class_is_refused_before_the_first_trial(named: Any, words: str) -> None:
    """With the file and the key."""
    with pytest.raises(AdapterError) as caught:
        _adapter(allow=("*",)).check(_skill(named))
    assert "skills/adder/skill.json: metadata.adapterClass: " in str(caught.value)
    assert words in str(caught.value)


def test_the_class_has_its_own_word_before_the_first_trial() -> None:
    """Its options are strict, and its check is asked."""
    with pytest.raises(ConfigError) as wrong:
        _adapter(adapter_class=NAMED, options={"nme": "a"}).check(_skill())
    assert {problem.key for problem in wrong.value.problems} == {
        "adapter.custom.options.nme",
        "adapter.custom.options.name",
    }
    with pytest.raises(SkillevalError, match="too old"):
        _adapter(adapter_class=NAMED, options={"name": "a"}).check(_skill(version="0.0.1"))


def test_a_call_without_a_class_is_not_judged(call: Callable[..., Call]) -> None:
    """Where nobody checked before, the trial says it."""
    reply = _asked(_adapter(), call(skill=_skill()))
    assert (reply.status, reply.failure_kind) == (Status.UNSUPPORTED, "not_configured")
    assert "expected module:Class, found nothing" in (reply.message or "")


def test_no_isolation_is_promised() -> None:
    """Nothing is known of what a class does."""
    assert isolation(_adapter()) == "worker"


def _documented(title: str, language: str) -> str:
    """Give the first block of a language in a section of the documentation."""
    section = DOCS.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found.group(1)


@pytest.mark.parametrize(
    "choice",
    [
        ["adapter=custom", "adapter.adapter_class=shouting:Shouting", "+adapter.options.mark='!'"],
        ["adapter.custom.allow=['shouting:*']", "+adapter.custom.options.mark='!'"],
        ["adapter=shouting"],
    ],
)
def test_the_documented_class_works(tmp_path: Path, choice: list[str]) -> None:
    """In each of the documented ways to choose it, by the installed program."""
    (tmp_path / "conf" / "adapter").mkdir(parents=True)
    (tmp_path / "conf" / "adapter" / "shouting.yaml").write_text('kind: shouting:Shouting\nmark: "!"\n')
    (tmp_path / "shouting.py").write_text(_documented("custom", "python"), encoding="utf-8")
    folder = tmp_path / "skills" / "loud"
    folder.mkdir(parents=True)
    (folder / "skill.json").write_text(_documented("custom", "json"), encoding="utf-8")
    program = [sys.executable, "-m", "skilleval", "task", "--skill", str(folder), "--json"]
    done = subprocess.run(
        [*program, "--input", '{"query": "hi"}', "--exact", '"HI!"', *choice],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["output"], found["verdict"]) == ("HI!", "passed")
