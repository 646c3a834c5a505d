from __future__ import annotations

from pathlib import Path

import pytest
from small_skills import said

pytestmark = pytest.mark.node


def test_es33_a_created_node_skill_passes_its_starter_and_fails_it_when_broken(tmp_path: Path) -> None:
    """Create, evaluate, break: the starter benchmark sees the difference."""
    made = said(
        "create", "--name", "Nødé", "--from-template", "node_script", "--output-dir", tmp_path, "--json"
    )
    assert made.code == 0, made.err
    own = Path(made.document["folder"])
    evaluate = [
        "eval",
        own,
        "--tasks",
        own / "tests" / "basic.eval.json",
        "--output-dir",
        tmp_path / "runs",
        "--json",
    ]
    good = said(*evaluate)
    assert good.code == 0, good.err
    assert good.document["summary"][0]["completion_rate"] == 1.0
    code = own / "skill.mjs"
    code.write_text(code.read_text(encoding="utf-8").replace("toUpperCase", "toLowerCase"), encoding="utf-8")
    assert said(*evaluate).document["summary"][0]["completion_rate"] == 0.0


def test_a_created_node_skill_answers_mistakes_as_the_protocol_says(tmp_path: Path) -> None:
    """A wrong input is a JSON-RPC error with its code, not a crash."""
    said("create", "--name", "n", "--from-template", "node_script", "--output-dir", tmp_path)
    done = said("task", "--skill", tmp_path / "n", "--input", '{"query": 3}', "--json")
    assert (done.code, done.document["failure_kind"]) == (3, "rpc_error")
    assert done.document["message"] == "JSON-RPC error -32602: query must be a text"
