from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.catalog.benchmarks import BenchmarkReading
from skilleval.catalog.evals import EVALS, read_evals
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Evaluator
from skilleval.errors import CatalogError

Reader = Callable[..., BenchmarkReading]
Writer = Callable[..., Skill]
CASE = {"id": 1, "prompt": "When is high tide?", "assertions": ["Says when"]}


def test_evals_become_tasks_of_one_benchmark(write_evals: Writer) -> None:
    """Each case is a task of its skill, and the benchmark is what the files say."""
    skill = write_evals({"skill_name": "tide", "evals": [{**CASE, "name": "High tide", "tags": ["easy"]}]})
    reading = read_evals([skill])
    benchmark, (task,) = reading.benchmark, reading.benchmark.tasks
    assert (benchmark.id, benchmark.domain, benchmark.source) == (
        EVALS,
        "instructions",
        skill.folder / "evals" / "evals.json",
    )
    assert (benchmark.version, len(benchmark.digest)) == (benchmark.digest[:12], 64)
    assert (task.id, task.skill_id, task.description, task.tags) == ("tide/1", "tide", "High tide", ("easy",))
    assert task.input == {"prompt": "When is high tide?"}
    assert task.expected == {"assertions": [{"id": "a1", "text": "Says when"}]}
    assert (task.evaluator, task.folder) == (Evaluator(kind="evals"), skill.folder / "evals")
    assert (task.timeout_ms, task.weight, reading.notices) == (None, 1.0, ())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("evals/evals.json", json.dumps([CASE])),
        ("evals.json", json.dumps({"evals": [CASE]})),
        ("evals/evals.yaml", "evals:\n- id: 1\n  prompt: When is high tide?\n  assertions: [Says when]\n"),
        ("evals/evals.yml", "- id: 1\n  prompt: When is high tide?\n  assertions:\n  - Says when\n"),
        ("evals/evals.jsonl", f"// tides\n\n{json.dumps(CASE)}\n"),
    ],
)
def test_evals_may_stand_in_several_files(name: str, text: str, write_evals: Writer) -> None:
    """JSON, YAML and JSON Lines, a bare list and an object are one and the same."""
    (task,) = read_evals([write_evals(text, name=name)]).benchmark.tasks
    assert (task.id, task.input) == ("tide/1", {"prompt": "When is high tide?"})
    assert task.expected == {"assertions": [{"id": "a1", "text": "Says when"}]}


def test_one_of_several_files_is_used_and_named(write_evals: Writer) -> None:
    """The folder of evals comes before the root, JSON before YAML, and a notice says so."""
    skill = write_evals([CASE], **{"evals.json": "[]", "evals/evals.yaml": "[]"})
    reading = read_evals([skill])
    assert len(reading.benchmark.tasks) == 1
    (remark,) = reading.remarks
    assert remark.startswith(
        f"{skill.folder / 'evals' / 'evals.json'}: used as the evals of tide; not used: "
    )
    assert remark.endswith("evals/evals.yaml, " + str(skill.folder / "evals.json"))


def test_skills_without_evals_are_named_and_none_at_all_is_an_error(write_evals: Writer) -> None:
    """One skill with evals is enough."""
    bare, full = write_evals(folder="bare"), write_evals([CASE])
    assert read_evals([bare, full]).remarks == (f"{bare.source}: has no evals (evals/evals.json)",)
    with pytest.raises(CatalogError, match="no skill has evals that could be run") as caught:
        read_evals([bare])
    assert caught.value.hint == f"{bare.source}: has no evals (evals/evals.json)"


def test_the_version_follows_the_content(write_evals: Writer) -> None:
    """Another input file, another script or another case is another benchmark; another place is none."""
    case = {**CASE, "files": ["files/a.csv"], "script": "sh grade.sh"}
    files = {"evals/files/a.csv": "1", "evals/grade.sh": "true"}
    versions = [
        read_evals([write_evals([case], folder=f"{place}/tide", **{**files, **change})]).benchmark.version
        for place, change in (
            ("one", {}),
            ("two", {}),
            ("three", {"evals/files/a.csv": "2"}),
            ("four", {"evals/grade.sh": "false"}),
        )
    ]
    assert versions[0] == versions[1]
    assert len(set(versions)) == 3


def test_ae15_the_problems_of_all_skills_are_told_at_once(write_evals: Writer) -> None:
    """One broken file of evals does not hide another."""
    skills = [write_evals("{", folder="a"), write_evals([{"id": 1}], folder="b"), write_evals([CASE])]
    with pytest.raises(CatalogError, match="2 problems with the evals") as caught:
        read_evals(skills)
    assert [Path(problem.where).parts[-3] for problem in caught.value.problems] == ["a", "b"]
    assert caught.value.problems[1].key == "[0].prompt"


def test_another_skill_name_is_noticed(read: Reader) -> None:
    """Evals that were copied from another skill are read, with a notice."""
    (remark,) = read({"skill_name": "wind", "evals": [CASE]}).remarks
    assert remark.endswith("skill_name: says wind, but the skill is tide")


def test_task_ids_are_unique_over_skills(write_evals: Writer) -> None:
    """A skill `a/b` with the case `c` and a skill `a` with the case `b/c` cannot both be told apart."""
    from dataclasses import replace

    one = replace(write_evals([{**CASE, "id": "b/c"}], folder="one"), id="a")
    two = replace(write_evals([{**CASE, "id": "c"}], folder="two"), id="a/b")
    with pytest.raises(CatalogError) as caught:
        read_evals([one, two])
    (problem,) = caught.value.problems
    assert (problem.where, problem.found) == ("a/b/c", "it for the skills a and a/b")


def test_evals_that_are_a_link_to_elsewhere_are_refused(write_evals: Writer, tmp_path: Path) -> None:
    """A file of evals belongs to its skill."""
    skill = write_evals()
    (tmp_path / "evals.json").write_text(json.dumps([CASE]))
    (skill.folder / "evals").mkdir()
    (skill.folder / "evals" / "evals.json").symlink_to(tmp_path / "evals.json")
    with pytest.raises(CatalogError, match="problem with the evals") as caught:
        read_evals([skill])
    assert caught.value.problems[0].found == f"a link to {tmp_path / 'evals.json'}"


@pytest.mark.parametrize(
    ("name", "text", "key", "found"),
    [
        ("evals/evals.json", '{"$schema": "x", "type": "object"}', "", "a JSON Schema"),
        ("evals/evals.json", '{"a": 1}', "", "an object with the key a"),
        ("evals/evals.json", "3", "", "a number"),
        ("evals/evals.json", '["x"]', "[0]", '"x"'),
        ("evals/evals.jsonl", '{"id": 1}{', "line 1", "extra data"),
        ("evals/evals.jsonl", '{"id": 1, "id": 2}', "line 1", "a key comes twice"),
        ("evals/evals.yaml", "evals: [", "line 2, column 1", "did not find"),
    ],
)
def test_what_is_no_file_of_evals_is_said(
    name: str, text: str, key: str, found: str, write_evals: Writer
) -> None:
    """Shape and place of what was found are named; a line that is lost would be a case that is lost."""
    with pytest.raises(CatalogError) as caught:
        read_evals([write_evals(text, name=name)])
    problem = caught.value.problems[0]
    assert problem.key == key
    assert problem.found.startswith(found)


def test_cases_of_other_tools_are_read_under_their_names(read: Reader) -> None:
    """Another wrapper, another name of the prompt and plain sentences as criteria are understood and said."""
    cases = [{"id": "a", "query": "q", "expected_behavior": ["Says x", "Says y"]}]
    reading = read({"test_cases": cases})
    (task,) = reading.benchmark.tasks
    assert task.input == {"prompt": "q"}
    assert task.expected == {
        "assertions": [{"id": "a1", "text": "Says x"}, {"id": "a2", "text": "Says y"}],
        "assertions_from": "expected_behavior",
    }
    assert len(reading.notices) == 3
    assert reading.remarks == ()
