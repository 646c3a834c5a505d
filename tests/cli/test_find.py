from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cli.conftest import Run
from small_skills import Said, said, write_skill, write_tasks


@pytest.fixture
def skills(folder: Path) -> Path:
    """Write four skills: two that work, one that is wrong, one driven another way."""
    root = folder / "skills"
    write_skill(root, "alpha", description="Converts units", tags=["Units", "fast"])
    write_skill(root, "beta", description="Reverses texts", tags=["text"])
    write_skill(root, "gamma", answer=2, description="Converts currencies", tags=["units"])
    write_skill(
        root, "delta", description="Searches", adapterType="http", entrypoint="http://127.0.0.1:1/invoke"
    )
    return root


def ids(done: Said) -> list[str]:
    """Give the ids of the hits."""
    return [hit["id"] for hit in done.document["hits"]]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["-q", "beta"], ["beta"]),
        (["--query", "convrets units"], ["alpha", "gamma"]),
        (["--tag", "UNITS"], ["alpha", "gamma"]),
        (["-t", "units", "fast"], ["alpha"]),
        (["-t", "units", "-t", "text"], []),
        (["-a", "http"], ["delta"]),
        ([], ["alpha", "beta", "delta", "gamma"]),
        (["--limit", "2"], ["alpha", "beta"]),
        (["--min-completion", "0"], []),
    ],
)
def test_skills_are_found_by_query_tag_and_adapter(
    skills: Path, arguments: list[str], expected: list[str]
) -> None:
    """By relevance with a query, else by name; nothing found is no error."""
    done = said("find", "--skills-dir", skills, "--store", skills, *arguments, "--json")
    assert done.code == 0, done.err
    assert ids(done) == expected


def test_es32_min_completion_is_read_from_stored_runs(skills: Path, folder: Path) -> None:
    """The newest run counts, of this very skill; a skill without one is left out and named."""
    tasks, store = write_tasks(folder / "tasks.json"), folder / "runs"
    evaluated = said(
        "eval", skills / "alpha", skills / "gamma", "--tasks", tasks, "--output-dir", store, "--json"
    )
    assert evaluated.code == 0, evaluated.err
    find = ["find", "--skills-dir", skills, "--store", store]
    found = said(*find, "--min-completion", "0.5", "--json")
    assert ids(found) == ["alpha"]
    assert found.document["hits"][0]["completion_rate"] == 1.0
    assert found.document["hits"][0]["run_id"] == evaluated.document["run_id"]
    assert found.document["without_history"] == ["beta 1.0.0", "delta 1.0.0"]
    assert ids(said(*find, "--json")) == ["alpha", "gamma", "beta", "delta"]
    assert found.document["hits"][0]["scorer"] == "task"
    assert "\t1 on custom\ttask, 2 graded\t" in said(*find).out
    (skills / "alpha" / "skill.py").write_text("# another program\n")
    shown = said(*find, "--min-completion", "0.5")
    assert "No hit among 4 skills." in shown.out
    assert "alpha 1.0.0, beta 1.0.0, delta 1.0.0" in shown.out


def test_completion_is_by_one_scorer_and_never_from_a_recording(skills: Path, folder: Path) -> None:
    """A newer run by another scorer, or of replayed attempts, does not take the place of the usual one."""
    tasks, store = write_tasks(folder / "tasks.json"), folder / "runs"
    evaluate = ["eval", skills / "gamma", "--tasks", tasks, "--output-dir", store, "--json"]
    first = said(*evaluate)
    (folder / "right.jsonl").write_text('{"task_id": "t1", "output": 1}\n{"task_id": "t2", "output": 1}\n')
    assert said(*evaluate, "scorer=numeric").code == 0
    replayed = said(*evaluate, "adapter=replay", f"adapter.path={folder / 'right.jsonl'}")
    assert replayed.document["summary"][0]["completion_rate"] == 1.0
    find = ["find", "--skills-dir", skills, "--store", store]
    gamma, *_ = said(*find, "--json").document["hits"]
    assert (gamma["run_id"], gamma["completion_rate"]) == (first.document["run_id"], 0.0)
    assert "also judged by numeric (--scorer)" in said(*find).out
    numeric, *_ = said(*find, "--scorer", "numeric", "--json").document["hits"]
    assert (numeric["id"], numeric["scorer"]) == ("gamma", "numeric")


def test_es24_a_broken_skill_is_named_and_hides_nothing(run: Run, skills: Path) -> None:
    """One broken manifest is a warning; the others are listed."""
    (skills / "beta" / "skill.json").write_text('{"id": "beta",}')
    done = run("find")
    assert done.code == 0
    assert "beta/skill.json" in done.err
    assert [line.split("\t")[0] for line in done.out.splitlines()] == ["skill", "alpha", "delta", "gamma"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--limit", "0"],
        ["--limit", "abc"],
        ["--min-completion", "nan"],
        ["--min-completion", "1.5"],
        ["--adapter", "htpp"],
        ["--skills-dir", "nowhere"],
        ["--store", "nowhere"],
    ],
)
def test_impossible_wishes_exit_2(skills: Path, arguments: list[str]) -> None:
    """A number out of range and a name that cannot be are refused, not answered with no hits."""
    done = said("find", "--skills-dir", skills, *arguments)
    assert done.code == 2
    assert done.out == ""


def test_an_empty_folder_is_said_to_be_empty(skills: Path) -> None:
    """Exit 0, and a line that says so."""
    shutil.rmtree(skills)
    skills.mkdir()
    done = said("find", "--skills-dir", skills, "--store", skills)
    assert done.code == 0
    assert "No hit among 0 skills." in done.out
