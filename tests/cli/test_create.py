from __future__ import annotations

from pathlib import Path

import pytest
from cli.conftest import Run
from small_skills import said

from skilleval.adapters import ADAPTERS

_SHOUTS = {"python_script": ("skill.py", "upper()"), "http_request": ("server.py", "upper()")}


@pytest.mark.parametrize("template", sorted(_SHOUTS))
def test_es33_a_created_skill_passes_its_starter_and_fails_it_when_broken(
    tmp_path: Path, template: str
) -> None:
    """Create, evaluate, break, mend: the starter benchmark sees each difference."""
    if template == "http_request":
        assert "http" in ADAPTERS, "the template http_request needs the adapter http"
    made = said(
        "create", "--name", "my-skill", "--from-template", template, "--output-dir", tmp_path, "--json"
    )
    assert made.code == 0, made.err
    own = tmp_path / "my-skill"
    evaluate = ["eval", own, "--tasks", own / "tests" / "basic.eval.json"]
    assert made.document["next"] == " ".join(["skilleval", *map(str, evaluate)])
    evaluate += ["--output-dir", tmp_path / "runs", "--json"]
    good = said(*evaluate)
    assert good.code == 0, good.err
    (row,) = good.document["summary"]
    assert (row["skill_id"], row["benchmark_id"]) == ("my-skill", "my-skill-basic")
    assert (row["completion_rate"], row["n_trials"]) == (1.0, 3)
    name, shout = _SHOUTS[template]
    whole = (own / name).read_text(encoding="utf-8")
    for broken in (whole.replace(shout, "lower()"), f"{whole}\n)"):
        (own / name).write_text(broken, encoding="utf-8")
        (row,) = said(*evaluate).document["summary"]
        assert (row["completion_rate"], row["n_trials"]) == (0.0, 3)
    (own / name).write_text(whole, encoding="utf-8")
    assert said(*evaluate).document["summary"][0]["completion_rate"] == 1.0


@pytest.mark.parametrize("template", sorted(_SHOUTS))
def test_a_created_skill_answers_mistakes_as_the_protocol_says(tmp_path: Path, template: str) -> None:
    """A wrong input is an error of the skill with its reason, not a crash."""
    said("create", "--name", "a", "--from-template", template, "--output-dir", tmp_path)
    done = said("task", "--skill", tmp_path / "a", "--input", '{"query": 3}', "--json")
    assert (done.code, done.document["status"]) == (3, "skill_error")
    assert "query must be a text" in done.document["message"]


def test_the_default_template_is_http_and_the_description_is_written(run: Run, folder: Path) -> None:
    """What section of the manifest is not asked for is filled in."""
    done = run("create", "--name", "web", "--description", "Answers over HTTP")
    assert done.code == 0, done.err
    manifest = (folder / "skills" / "web" / "skill.json").read_text()
    assert '"adapterType": "http"' in manifest
    assert '"description": "Answers over HTTP"' in manifest


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--name", "a", "--from-template", "mcp"], "one of http_request, node_script, python_script"),
        (["--name", ""], "needs a name"),
        ([], "--name"),
    ],
)
def test_what_cannot_be_created_exits_2_and_leaves_nothing(
    folder: Path, arguments: list[str], expected: str
) -> None:
    """An unknown template names the known ones."""
    done = said("create", "--output-dir", folder / "new", *arguments)
    assert done.code == 2
    assert expected in done.err
    assert list(folder.iterdir()) == []


def test_es28_a_second_skill_of_the_name_is_refused_and_no_name_leaves_the_folder(
    run: Run, folder: Path
) -> None:
    """The first stays as it is; a name that is a path or an option makes a folder like any other."""
    for name in ("../../x", "--help"):
        assert run("create", "--name", name, "--output-dir", "deep/skills").code == 0
    assert sorted(path.name for path in (folder / "deep" / "skills").iterdir()) == [
        "help-0bdbc8fb",
        "x-9cdf6a50",
    ]
    assert [path.name for path in folder.iterdir()] == ["deep"]
    again = said("create", "--name", "--help", "--output-dir", folder / "deep" / "skills")
    assert again.code == 2
    assert "never overwritten" in again.err
