from __future__ import annotations

from collections.abc import Callable

import pytest

from skilleval.catalog.benchmarks import BenchmarkReading
from skilleval.domain.tasks import Task
from skilleval.errors import CatalogError, Problem

Reader = Callable[..., BenchmarkReading]
CaseReader = Callable[..., Task]
Finder = Callable[..., tuple[Problem, ...]]


def ids(reading: BenchmarkReading) -> list[str]:
    """Give the ids of the cases, without that of their skill."""
    return [task.id.removeprefix("tide/") for task in reading.benchmark.tasks]


def test_c11_expectations_count_as_assertions(read: Reader) -> None:
    """Both keys are graded, and a case with neither is ungraded with a warning."""
    evals = [
        {"id": 1, "prompt": "p", "expected_output": "e", "expectations": ["Names the port", "Gives metres"]},
        {"id": 2, "prompt": "q", "expectations": ["Says high tide"]},
        {"id": 3, "prompt": "r"},
    ]
    reading = read({"skill_name": "tide", "evals": evals})
    one, two, three = reading.benchmark.tasks
    assert [entry["text"] for entry in one.expected["assertions"]] == ["Names the port", "Gives metres"]
    assert one.expected["expected_output"] == "e"
    assert "assertions_from" not in one.expected
    assert two.expected == {"assertions": [{"id": "a1", "text": "Says high tide"}]}
    assert three.expected == {}
    (remark,) = reading.remarks
    assert remark.endswith("evals[2]: nothing to check, so that the case will be ungraded")


def test_an_expected_output_alone_becomes_a_labelled_assertion(read: Reader) -> None:
    """The fallback says where it comes from."""
    reading = read([{"id": 1, "prompt": "p", "expected_output": "Names row 7."}])
    assert reading.benchmark.tasks[0].expected == {
        "assertions": [{"id": "a1", "text": "The output satisfies this description: Names row 7."}],
        "assertions_from": "expected_output",
        "expected_output": "Names row 7.",
    }
    assert "becomes its one assertion" in reading.remarks[0]


@pytest.mark.parametrize("key", ["tool_assertions", "script", "file_checks"])
def test_an_expected_output_beside_another_check_is_not_promoted(key: str, read_case: CaseReader) -> None:
    """It is what the judge may be shown, no check of its own."""
    checks = {
        "tool_assertions": [{"type": "tool-called", "name": "x"}],
        "script": "true",
        "file_checks": ["out.txt"],
    }
    expected = read_case({"expected_output": "e", key: checks[key]}).expected
    assert set(expected) == {key, "expected_output"}


def test_c13_a_misspelt_key_is_named_and_the_case_ungraded(read: Reader) -> None:
    """The nearest right key is said, nothing is graded by the wrong one, and strictly it is an error."""
    evals = [
        {
            "id": 1,
            "prompt": "p",
            "assertion": ["must fail"],
            "tool_assertons": [{"type": "tool-called", "name": "x"}],
        }
    ]
    reading = read({"evals": evals})
    assert reading.benchmark.tasks[0].expected == {}
    said = [remark.partition(": ")[2] for remark in reading.remarks]
    assert said == [
        "evals[0].assertion: unknown key assertion, without effect (did you mean assertions?)",
        "evals[0].tool_assertons: unknown key tool_assertons, without effect (did you mean tool_assertions?)",
        "evals[0]: nothing to check, so that the case will be ungraded",
    ]
    with pytest.raises(CatalogError) as caught:
        read({"evals": evals}, strict=True)
    assert [problem.key for problem in caught.value.problems] == [
        "evals[0].assertion",
        "evals[0].tool_assertons",
    ]


@pytest.mark.parametrize(
    ("key", "close"),
    [
        ("Assertions", "assertions"),
        ("asserts", "assertions"),
        ("timeout", "timeoutMs"),
        ("expected_ouput", "expected_output"),
    ],
)
def test_c13_the_nearest_key_is_found(key: str, close: str, read: Reader) -> None:
    """Capitals, shortened and twisted keys are recognised."""
    remarks = read([{"id": 1, "prompt": "p", "assertions": ["a"], key: "x"}]).remarks
    assert remarks[0].endswith(f"without effect (did you mean {close}?)")


def test_c14_ids_that_come_twice_are_refused(read: Reader) -> None:
    """The id and both positions are named, for 1 and "1" too."""
    evals = [
        {"id": "a", "prompt": "one", "assertions": ["x"]},
        {"id": "a", "prompt": "two", "assertions": ["y"]},
        {"id": 1, "prompt": "three", "assertions": ["z"]},
        {"id": "1", "prompt": "four", "assertions": ["w"]},
    ]
    with pytest.raises(CatalogError) as caught:
        read({"evals": evals})
    assert [(problem.key, problem.found) for problem in caught.value.problems] == [
        ("evals[1].id", '"a" at evals[0] ("a") and evals[1]'),
        ("evals[3].id", '"1" at evals[2] (1) and evals[3]'),
    ]


def test_c15_zero_is_an_id(read: Reader) -> None:
    """It is kept, and a generated id is another one."""
    evals = [{"id": 0, "prompt": "zero", "assertions": ["a"]}, {"prompt": "no id", "assertions": ["b"]}]
    assert ids(read({"evals": evals})) == ["0", "case-2"]


def test_ae10_generated_ids_collide_with_nothing(read: Reader) -> None:
    """A name makes an id where it is free; names that look alike, digits and other scripts do not."""
    names = ["High tide", "High tide!", "7", "潮汐", "taken"]
    evals = [{"name": name, "prompt": "p", "assertions": ["a"]} for name in names]
    evals += [{"id": given, "prompt": "p", "assertions": ["a"]} for given in ("taken", "case-4")]
    assert ids(read(evals)) == [
        "high-tide",
        "case-2",
        "case-3",
        "case-4-2",
        "case-5",
        "taken",
        "case-4",
    ]


@pytest.mark.parametrize("wrong", [True, 1.5, [1], {"a": 1}])
def test_other_ids_are_refused(wrong: object, problems_of: Finder) -> None:
    """An id is a text or a whole number."""
    (problem,) = problems_of({"id": wrong, "assertions": ["a"]})
    assert (problem.key, problem.expected) == ("evals[0].id", "a text or a whole number")


def test_assertions_have_many_forms(read_case: CaseReader) -> None:
    """Texts and objects are one, ids are kept or made, weights and necessity are told where they are given."""
    task = read_case(
        {
            "assertions": [
                "plain",
                {"value": "by value", "weight": 2},
                {"id": "a3", "criterion": "by criterion", "required": False},
                {"name": "n", "description": "by description"},
            ],
            "expectations": [{"check": "output_contains", "expected": "URL"}, {"assertion": "by assertion"}],
        }
    )
    assert task.expected["assertions"] == [
        {"id": "a1", "text": "plain"},
        {"id": "a2", "text": "by value", "weight": 2.0},
        {"id": "a3", "text": "by criterion", "required": False},
        {"id": "a4", "text": "by description"},
        {"id": "a5", "text": "output_contains: URL"},
        {"id": "a6", "text": "by assertion"},
    ]


def test_made_ids_step_aside_for_given_ones(read_case: CaseReader) -> None:
    """No two assertions of a case have one id."""
    task = read_case({"assertions": ["x", {"id": "a1", "text": "y"}, {"id": "a3", "text": "z"}, "w"]})
    names = [entry["id"] for entry in task.expected["assertions"]]
    assert names == ["a2", "a1", "a3", "a4"]


@pytest.mark.parametrize(
    ("case", "key"),
    [
        ({"prompt": " ", "assertions": ["a"]}, "prompt"),
        ({"prompt": 3, "assertions": ["a"]}, "prompt"),
        ({"assertions": [""]}, "assertions[0]"),
        ({"assertions": [3]}, "assertions[0]"),
        ({"assertions": [{"type": "x"}]}, "assertions[0]"),
        ({"assertions": 3}, "assertions"),
        ({"assertions": [{"id": "x", "text": "a"}, {"id": "x", "text": "b"}]}, "assertions[1].id"),
        ({"assertions": [{"text": "a", "weight": -1}]}, "assertions[0].weight"),
        ({"assertions": [{"text": "a", "required": "yes"}]}, "assertions[0].required"),
        ({"assertions": ["a"], "expected_output": ["x"]}, "expected_output"),
        ({"assertions": ["a"], "params": [1]}, "params"),
        ({"assertions": ["a"], "timeoutMs": 0}, "timeoutMs"),
        ({"assertions": ["a"], "timeoutMs": 1, "timeout_ms": 2}, "timeout_ms"),
        ({"assertions": ["a"], "weight": 0}, "weight"),
        ({"assertions": ["a"], "tags": [1]}, "tags"),
        ({"assertions": ["a"], "should_trigger": "no"}, "should_trigger"),
        ({"script": []}, "script"),
        ({"script": "'open"}, "script"),
        ({"file_checks": [{"exists": True}]}, "file_checks[0].path"),
        ({"file_checks": [{"path": "../x", "exists": True}]}, "file_checks[0].path"),
        ({"file_checks": [{"path": "x"}]}, "file_checks[0]"),
        ({"file_checks": [{"path": "x", "contain": "y"}]}, "file_checks[0].contain"),
    ],
)
def test_a_wrong_value_is_named_by_its_place(case: dict[str, object], key: str, problems_of: Finder) -> None:
    """Whatever cannot be used is refused before any model is asked."""
    assert f"evals[0].{key}" in [problem.key for problem in problems_of(case)]


def test_params_of_a_case_lie_over_the_default_ones(read_case: CaseReader) -> None:
    """Defaults are those for the target."""
    defaults = {"target": {"params": {"temperature": 0, "top_p": 1}}, "judge": {"params": {"seed": 1}}}
    task = read_case({"assertions": ["a"], "params": {"top_p": 0.5}}, defaults=defaults)
    assert task.input["params"] == {"temperature": 0, "top_p": 0.5}


def test_defaults_for_a_judge_are_said_to_have_no_effect(read: Reader) -> None:
    """The judge is one of the run, so its parameters are too."""
    evals = {
        "evals": [{"id": 1, "prompt": "p", "assertions": ["a"]}],
        "defaults": {"judge": {"params": {"n": 1}}},
    }
    assert "scorers.task.evals.llm_judge.params" in read(evals).remarks[0]


def test_limits_tags_and_weights_are_read(read_case: CaseReader) -> None:
    """Both spellings of a limit mean milliseconds."""
    for key in ("timeoutMs", "timeout_ms"):
        task = read_case({"assertions": ["a"], key: 1500, "weight": 2, "tags": ["x", "y"]})
        assert (task.timeout_ms, task.weight, task.tags) == (1500.0, 2.0, ("x", "y"))


def test_scripts_and_file_checks_are_read(read_case: CaseReader) -> None:
    """A command is a list of words however it is written, and a path alone means that the file is there."""
    for script in (
        "python 'my grade.py' -x",
        ["python", "my grade.py", "-x"],
        {"command": ["python", "my grade.py", "-x"]},
    ):
        assert read_case({"script": script}).expected == {"script": ["python", "my grade.py", "-x"]}
    checks = ["out.txt", {"path": "a.json", "json_path": "n", "value": 1, "weight": 3}]
    assert read_case({"file_checks": checks}).expected["file_checks"] == [
        {"id": "f1", "path": "out.txt", "exists": True},
        {"id": "f2", "path": "a.json", "json_path": "n", "value": 1, "weight": 3.0},
    ]


def test_a_negative_trigger_with_assertions_is_asked_about(read: Reader) -> None:
    """The case stays a task, and the doubt is said."""
    reading = read([{"id": 1, "prompt": "p", "should_trigger": False, "assertions": ["a"]}])
    assert ids(reading) == ["1"]
    assert "are they meant to fail?" in reading.remarks[0]
