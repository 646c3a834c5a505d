from __future__ import annotations

import json
from pathlib import Path

import pytest
from cases import case_input

from skilleval.catalog import create
from skilleval.catalog.benchmarks import read_tasks
from skilleval.catalog.create import TEMPLATES, Change, create_project, create_skill, skill_id
from skilleval.catalog.read import read_catalog
from skilleval.catalog.skill_json import read_skill
from skilleval.errors import CatalogError, UsageError


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_created_skill_and_its_starter_are_read_by_the_catalog(tmp_path: Path, template: str) -> None:
    """The manifest keeps the name; id, folder and starter fit each other; nothing is left to fill in."""
    made = create_skill("my-skill", template=template, output_dir=tmp_path / "new", description="Does it")
    assert made.folder == tmp_path / "new" / "my-skill"
    skill = read_skill(made.folder)
    assert (skill.id, skill.name, skill.version, skill.description) == (
        "my-skill",
        "my-skill",
        "0.1.0",
        "Does it",
    )
    benchmark = read_tasks(made.starter).benchmark
    assert (benchmark.id, len(benchmark.tasks)) == ("my-skill-basic", 3)
    assert set(made.files) == {path for path in made.folder.rglob("*") if path.is_file()}
    assert not [path for path in made.files if path.suffix == ".template"]


def test_no_template_is_taken_for_a_skill() -> None:
    """Who looks for skills in the sources of skilleval is told nothing of their templates."""
    found = read_catalog([Path(create.__file__).parent])
    assert [problem.found for problem in found.problems] == ["no skill.json"]


def test_c50_every_name_gets_a_folder_of_its_own_inside_the_output_folder(tmp_path: Path) -> None:
    """Whatever the name holds: distinct folders, none outside, and the name is kept in the manifest."""
    names: list[str] = case_input("C50")["ids"]
    inside = tmp_path / "skills"
    made = [create_skill(name, template="python_script", output_dir=inside, description="") for name in names]
    assert len({skill.folder for skill in made}) == len(names) == 7
    assert {skill.folder.resolve().parent for skill in made} == {inside.resolve()}
    assert list(tmp_path.iterdir()) == [inside]
    manifests = [json.loads((skill.folder / "skill.json").read_text(encoding="utf-8")) for skill in made]
    assert [manifest["name"] for manifest in manifests] == names
    assert [manifest["id"] for manifest in manifests] == [skill.folder.name for skill in made]
    assert all(read_skill(skill.folder).id == skill.id for skill in made)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("my-skill", "my-skill"),
        ("text_tools2", "text_tools2"),
        ("x" * 40, "x" * 40),
        ("My Skill", "my-skill-287f1d93"),
        ("../../x", "x-9cdf6a50"),
        ("--help", "help-0bdbc8fb"),
        ("con", "con-1143da2b"),
        ("海图", "skill-9df73521"),
        ("潮汐", "skill-e2f38e1d"),
        ("é", "e-4a99557e"),
        ("x" * 41, "x" * 40 + "-3164596d"),
    ],
)
def test_an_id_is_the_name_or_says_by_a_hash_that_something_had_to_go(name: str, expected: str) -> None:
    """A plain word stays; whatever lost a letter, a case or its end gets a hash of the whole name."""
    assert skill_id(name) == expected


def test_a_skill_is_never_overwritten(tmp_path: Path) -> None:
    """A second run leaves edited files alone."""
    made = create_skill("a", template="python_script", output_dir=tmp_path, description="")
    (made.folder / "skill.py").write_text("mine")
    with pytest.raises(CatalogError, match="never overwritten"):
        create_skill("a", template="node_script", output_dir=tmp_path, description="")
    assert (made.folder / "skill.py").read_text() == "mine"
    assert not (made.folder / "skill.mjs").exists()


def test_an_unknown_template_is_refused_with_the_names_and_nothing_is_made(tmp_path: Path) -> None:
    """The nearest name is the hint."""
    with pytest.raises(UsageError) as caught:
        create_skill("a", template="python_skript", output_dir=tmp_path / "x", description="")
    (problem,) = caught.value.problems
    assert problem.expected == "one of http_request, mcp_tool, node_script, python_script"
    assert problem.hint == "did you mean python_script?"
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x1b[2J", "\udcff"])
def test_a_name_that_cannot_be_shown_is_refused(tmp_path: Path, name: str) -> None:
    """Empty names, control characters and broken text are no names."""
    with pytest.raises(UsageError, match="needs a name"):
        create_skill(name, template="python_script", output_dir=tmp_path, description="")


def test_an_output_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    """A place that cannot be written to is an error with the place."""
    (tmp_path / "file").write_text("")
    with pytest.raises(CatalogError) as caught:
        create_skill("a", template="python_script", output_dir=tmp_path / "file", description="")
    assert str(tmp_path / "file") in caught.value.problems[0].where


def test_a_project_is_made_once_and_kept_afterwards(tmp_path: Path) -> None:
    """The first time everything is made, the second time everything is kept."""
    folder = tmp_path / "deep" / "project"
    first = create_project(folder)
    assert set(first.values()) == {Change.MADE}
    assert sorted(str(path.relative_to(folder)) for path in first) == [
        ".gitignore",
        "benchmarks",
        "conf/README.md",
        "skilleval.yaml",
        "skills",
    ]
    (folder / "skilleval.yaml").write_text("runner: {repeats: 2}\n")
    assert set(create_project(folder).values()) == {Change.KEPT}
    assert (folder / "skilleval.yaml").read_text() == "runner: {repeats: 2}\n"


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("*.pyc", "*.pyc\noutputs/\n", Change.EXTENDED),
        ("*.pyc\n", "*.pyc\noutputs/\n", Change.EXTENDED),
        ("/outputs\n", "/outputs\n", Change.KEPT),
        ("outputs/*\n!outputs/.gitkeep\n", "outputs/*\n!outputs/.gitkeep\n", Change.KEPT),
    ],
)
def test_a_gitignore_keeps_its_lines_and_gets_one_if_results_are_not_ignored(
    tmp_path: Path, before: str, after: str, change: Change
) -> None:
    """Nothing of the user's is lost, and no line comes twice."""
    (tmp_path / ".gitignore").write_text(before)
    assert create_project(tmp_path)[tmp_path / ".gitignore"] is change
    assert (tmp_path / ".gitignore").read_text() == after
