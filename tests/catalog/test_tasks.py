from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.benchmarks import BenchmarkReading, read_tasks
from skilleval.domain.tasks import Evaluator, Task
from skilleval.errors import CatalogError, Problem

Writer = Callable[..., Path]

EXACT = {"type": "exact", "value": 3}
FOR_ANY_KIND = {"value": 3, "schema": {}, "customScorerPath": "module:function"}


def item(**changes: Any) -> dict[str, Any]:
    """Give a task as it stands in a file; keys given as null are left out."""
    whole = {
        "id": "t1",
        "inputData": {"a": 1},
        "expectedOutput": EXACT,
        "evaluator": {"type": "exact"},
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not None}


@pytest.fixture
def reading_of(write_json: Writer) -> Callable[..., BenchmarkReading]:
    """Read tasks from a file that holds the items."""
    return lambda *items: read_tasks(write_json(list(items), "tasks.json"))


@pytest.fixture
def problems_of(reading_of: Callable[..., BenchmarkReading]) -> Callable[..., tuple[Problem, ...]]:
    """Give the problems of reading the items."""

    def problems(*items: Any) -> tuple[Problem, ...]:
        with pytest.raises(CatalogError) as caught:
            reading_of(*items)
        return caught.value.problems

    return problems


Reading = Callable[..., BenchmarkReading]
Problems = Callable[..., tuple[Problem, ...]]


def said(reading: BenchmarkReading) -> list[str]:
    """Give the notices without the file's path."""
    return [notice.split("tasks.json: ", 1)[1] for notice in reading.notices]


def test_every_key_of_a_task_has_its_place(reading_of: Reading) -> None:
    """A complete task of the first dialect is read without a notice."""
    reading = reading_of(
        item(description="Adds", timeoutMs=500, tags=["sum"], weight=2, metadata={"level": 1})
    )
    assert reading.benchmark.tasks == (
        Task(
            id="t1",
            input={"a": 1},
            expected={"value": 3},
            description="Adds",
            evaluator=Evaluator(kind="exact"),
            timeout_ms=500.0,
            tags=("sum",),
            weight=2.0,
        ),
    )
    assert reading.notices == ()


def test_a_task_without_evaluator_uses_the_expected_type(reading_of: Reading) -> None:
    """The evaluator is filled in from expectedOutput.type, and a notice says so."""
    reading = reading_of(item(evaluator=None))
    assert reading.benchmark.tasks[0].evaluator == Evaluator(kind="exact")
    assert said(reading) == ["tasks[0].evaluator: filled in: exact, from expectedOutput.type"]


def test_a_task_that_names_no_kind_has_no_evaluator(reading_of: Reading) -> None:
    """Without evaluator and expectedOutput.type a task names none, and nothing is made up."""
    reading = reading_of(item(evaluator=None, expectedOutput={"value": 3}))
    assert reading.benchmark.tasks[0].evaluator is None
    assert reading.notices == ()


def test_a_prompt_is_an_input(reading_of: Reading) -> None:
    """The prompt of the second dialect is the key prompt of the input, beside inputData where both are given."""
    reading = reading_of(
        item(id="a", inputData=None, prompt="Add 1 and 2"),
        item(id="b", prompt="Add", inputData={"n": [1, 2]}),
    )
    first, second = reading.benchmark.tasks
    assert first.input == {"prompt": "Add 1 and 2"}
    assert second.input == {"prompt": "Add", "n": [1, 2]}
    assert said(reading) == [
        "tasks[0].prompt (and 1 more): alias: prompt is read as the key prompt of inputData"
    ]


def test_two_prompts_that_differ_are_refused(problems_of: Problems, reading_of: Reading) -> None:
    """A prompt inside inputData may repeat the task's prompt but not contradict it."""
    assert reading_of(item(prompt="a", inputData={"prompt": "a"})).benchmark.tasks[0].input == {"prompt": "a"}
    (problem,) = problems_of(item(prompt="a", inputData={"prompt": "b"}))
    assert (problem.key, problem.found) == ("tasks[0].prompt", '"a" beside "b" in inputData')


@pytest.mark.parametrize(("written", "kind"), [("exact_match", "exact"), ("schema", "json_schema")])
def test_aliases_are_read_and_said(written: str, kind: str, reading_of: Reading) -> None:
    """An alias becomes the canonical kind in both places, and a notice names both words."""
    expected = {**FOR_ANY_KIND, "type": written}
    reading = reading_of(item(evaluator={"type": written}, expectedOutput=expected))
    assert reading.benchmark.tasks[0].evaluator == Evaluator(kind=kind)
    assert said(reading) == [
        f"tasks[0].expectedOutput.type (and 1 more): alias: {written} is read as {kind}",
    ]


@pytest.mark.parametrize(
    "kind", ["exact", "contains", "regex", "json_schema", "numeric", "custom", "llm_judge"]
)
def test_canonical_kinds_need_no_notice(kind: str, reading_of: Reading) -> None:
    """The seven kinds are read as they are."""
    reading = reading_of(item(evaluator={"type": kind}, expectedOutput={**FOR_ANY_KIND, "type": kind}))
    assert reading.benchmark.tasks[0].evaluator == Evaluator(kind=kind)
    assert reading.notices == ()


def test_an_alias_is_no_disagreement(reading_of: Reading) -> None:
    """exact_match and exact are the same kind: only the alias is said."""
    reading = reading_of(item(expectedOutput={"type": "exact_match", "value": 3}))
    assert said(reading) == ["tasks[0].expectedOutput.type: alias: exact_match is read as exact"]


def test_es06_the_evaluator_wins_and_the_disagreement_is_said(reading_of: Reading) -> None:
    """Where evaluator.type and expectedOutput.type disagree the evaluator counts, with a notice."""
    reading = reading_of(item(evaluator={"type": "contains"}))
    assert reading.benchmark.tasks[0].evaluator == Evaluator(kind="contains")
    assert said(reading) == [
        "tasks[0].evaluator.type: evaluator contains is used, although expectedOutput.type says exact"
    ]


def test_es06_options_of_an_evaluator_reach_the_scorer(reading_of: Reading) -> None:
    """Each option takes effect under its name in snake case."""
    exact = {"type": "exact", "caseSensitive": False, "strip": True, "tolerance": 0.5}
    custom = {"type": "custom", "customScorerPath": "module:function"}
    tasks = reading_of(item(id="a", evaluator=exact), item(id="b", evaluator=custom)).benchmark.tasks
    assert tasks[0].evaluator == Evaluator(
        kind="exact", options={"case_sensitive": False, "strip": True, "tolerance": 0.5}
    )
    assert tasks[1].evaluator == Evaluator(kind="custom", options={"custom_scorer_path": "module:function"})


@pytest.mark.parametrize(
    ("evaluator", "options"),
    [
        (
            {"type": "numeric", "tolerance": 1, "relTolerance": 0.01, "stripUnits": False},
            {"tolerance": 1, "rel_tolerance": 0.01, "strip_units": False},
        ),
        (
            {"type": "regex", "caseSensitive": False, "timeoutMs": 50},
            {"case_sensitive": False, "timeout_ms": 50},
        ),
        ({"type": "schema", "timeoutMs": 50}, {"timeout_ms": 50}),
        ({"type": "custom", "timeoutMs": 50, "passAt": 0.5}, {"timeout_ms": 50, "pass_at": 0.5}),
    ],
)
def test_es06_each_kind_has_its_options(
    evaluator: dict[str, Any], options: dict[str, Any], reading_of: Reading
) -> None:
    """The options of the further kinds are read as they are."""
    read = reading_of(item(evaluator=evaluator, expectedOutput=FOR_ANY_KIND)).benchmark.tasks[0].evaluator
    assert read is not None
    assert read.options == options


@pytest.mark.parametrize(
    ("flags", "case_sensitive", "multiline", "dotall"),
    [
        ("", True, False, False),
        ("i", False, False, False),
        ("ms", True, True, True),
        ("smi", False, True, True),
    ],
)
def test_es06_flags_say_all_three_options_of_a_pattern(
    flags: str, case_sensitive: bool, multiline: bool, dotall: bool, reading_of: Reading
) -> None:
    """A letter that is not there is off, whatever the config says."""
    given = item(evaluator={"type": "regex", "flags": flags}, expectedOutput={"patterns": ["a"]})
    (task,) = reading_of(given).benchmark.tasks
    options = {"case_sensitive": case_sensitive, "multiline": multiline, "dotall": dotall}
    assert task.evaluator == Evaluator(kind="regex", options=options)


def test_es06_flags_and_case_sensitive_exclude_each_other(problems_of: Problems) -> None:
    """Two keys that may contradict each other are refused together."""
    evaluator = {"type": "regex", "flags": "i", "caseSensitive": True}
    (problem,) = problems_of(item(evaluator=evaluator))
    assert (problem.key, problem.found) == (
        "tasks[0].evaluator.flags",
        'caseSensitive true beside flags "i"',
    )


@pytest.mark.parametrize(
    ("evaluator", "key"),
    [
        ({"type": "json_schema", "caseSensitive": True}, "caseSensitive"),
        ({"type": "exact", "relTolerance": 0.1}, "relTolerance"),
        ({"type": "regex", "stripUnits": True}, "stripUnits"),
        ({"type": "contains", "flags": "i"}, "flags"),
        ({"type": "numeric", "timeoutMs": 5}, "timeoutMs"),
        ({"type": "regex", "passAt": 0.5}, "passAt"),
        ({"type": "schema", "strip": True}, "strip"),
        ({"type": "contains", "tolerance": 0.1}, "tolerance"),
        ({"type": "exact", "customScorerPath": "x.py"}, "customScorerPath"),
    ],
)
def test_es06_an_option_without_effect_is_refused(
    evaluator: dict[str, Any], key: str, problems_of: Problems
) -> None:
    """An option that the kind does not know is refused instead of ignored."""
    (problem,) = problems_of(item(evaluator=evaluator, expectedOutput=FOR_ANY_KIND))
    assert problem.key == f"tasks[0].evaluator.{key}"
    assert problem.expected.startswith(f"{key} only with ")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("case_sensitive", "caseSensitive"),
        ("casesensitive", "caseSensitive"),
        ("tolerence", "tolerance"),
        ("rel_tolerance", "relTolerance"),
        ("stripUnit", "stripUnits"),
        ("timeout", "timeoutMs"),
        ("flag", "flags"),
        ("pass_at", "passAt"),
        ("scorerPath", "customScorerPath"),
    ],
)
def test_an_unknown_evaluator_key_is_refused(wrong: str, right: str, problems_of: Problems) -> None:
    """A misspelt option of an evaluator is refused with the right name."""
    (problem,) = problems_of(item(evaluator={"type": "exact", wrong: True}))
    assert (problem.key, problem.hint) == (f"tasks[0].evaluator.{wrong}", f"did you mean {right}?")


def test_an_evaluator_key_of_its_own_is_refused_too(problems_of: Problems) -> None:
    """A key that resembles none lists the known ones."""
    (problem,) = problems_of(item(evaluator={"type": "exact", "colour": "red"}))
    assert problem.hint == (
        "known: caseSensitive, customScorerPath, flags, passAt, relTolerance, strip, stripUnits, timeoutMs, "
        "tolerance, type, wholeWords"
    )


@pytest.mark.parametrize(
    ("place", "key"),
    [("evaluator", "tasks[0].evaluator.type"), ("expectedOutput", "tasks[0].expectedOutput.type")],
)
def test_an_unknown_kind_names_the_nearest(place: str, key: str, problems_of: Problems) -> None:
    """A kind nobody knows is refused with the nearest known one."""
    (problem,) = problems_of(item(**{place: {"type": "contain"}}))
    assert (problem.key, problem.found, problem.hint) == (key, '"contain"', "did you mean contains?")


def test_criteria_are_the_prompt_of_the_judge(reading_of: Reading) -> None:
    """The second dialect's criteria become judgePrompt, with a notice."""
    reading = reading_of(item(evaluator=None, expectedOutput={"type": "llm_judge", "criteria": "polite"}))
    assert reading.benchmark.tasks[0].expected == {"judgePrompt": "polite"}
    assert said(reading)[0] == "tasks[0].expectedOutput.criteria: alias: criteria is read as judgePrompt"


@pytest.mark.parametrize("value", [None, 0, False, "", [], {"a": None}])
def test_an_expected_value_is_kept_as_it_is(value: object, reading_of: Reading) -> None:
    """Null, zero, false and the empty text are expected values like any other."""
    expected = reading_of(item(expectedOutput={"type": "exact", "value": value})).benchmark.tasks[0].expected
    assert expected == {"value": value}
    assert type(expected["value"]) is type(value)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"id": None}, "tasks[0].id"),
        ({"id": " "}, "tasks[0].id"),
        ({"id": 1.5}, "tasks[0].id"),
        ({"id": True}, "tasks[0].id"),
        ({"inputData": None}, "tasks[0].inputData"),
        ({"inputData": "text"}, "tasks[0].inputData"),
        ({"inputData": None, "prompt": 3}, "tasks[0].prompt"),
        ({"expectedOutput": None}, "tasks[0].expectedOutput"),
        ({"expectedOutput": "three"}, "tasks[0].expectedOutput"),
        ({"expectedOutput": {"keywords": "three"}}, "tasks[0].expectedOutput.keywords"),
        ({"expectedOutput": {"keywords": [["three"]]}}, "tasks[0].expectedOutput.keywords[0]"),
        ({"expectedOutput": {"patterns": [3]}}, "tasks[0].expectedOutput.patterns[0]"),
        ({"expectedOutput": {"schema": "object"}}, "tasks[0].expectedOutput.schema"),
        ({"evaluator": "exact"}, "tasks[0].evaluator"),
        ({"evaluator": {}}, "tasks[0].evaluator.type"),
        ({"evaluator": {"type": "exact", "tolerance": -1}}, "tasks[0].evaluator.tolerance"),
        ({"evaluator": {"type": "exact", "caseSensitive": "no"}}, "tasks[0].evaluator.caseSensitive"),
        ({"evaluator": {"type": "numeric", "relTolerance": -0.1}}, "tasks[0].evaluator.relTolerance"),
        ({"evaluator": {"type": "numeric", "stripUnits": 1}}, "tasks[0].evaluator.stripUnits"),
        ({"evaluator": {"type": "regex", "flags": "g"}}, "tasks[0].evaluator.flags"),
        ({"evaluator": {"type": "regex", "timeoutMs": 0}}, "tasks[0].evaluator.timeoutMs"),
        ({"evaluator": {"type": "custom", "passAt": 0}}, "tasks[0].evaluator.passAt"),
        ({"evaluator": {"type": "custom", "passAt": 1.5}}, "tasks[0].evaluator.passAt"),
        ({"timeoutMs": 0}, "tasks[0].timeoutMs"),
        ({"timeoutMs": -5}, "tasks[0].timeoutMs"),
        ({"timeoutMs": "10"}, "tasks[0].timeoutMs"),
        ({"timeoutMs": 10**400}, "tasks[0].timeoutMs"),
        ({"weight": -0.1}, "tasks[0].weight"),
        ({"weight": True}, "tasks[0].weight"),
        ({"weight": 10**400}, "tasks[0].weight"),
        ({"tags": "sum"}, "tasks[0].tags"),
        ({"description": 3}, "tasks[0].description"),
    ],
)
def test_each_rule_of_a_task_is_applied(changes: dict[str, Any], key: str, problems_of: Problems) -> None:
    """A value that breaks a rule is one problem with its key, what was expected and what was found."""
    (problem,) = problems_of(item(**changes))
    assert problem.key == key
    assert problem.expected
    assert problem.found


@pytest.mark.parametrize("weight", [0, 0.25, 3])
def test_weights_from_zero_up_are_accepted(weight: float, reading_of: Reading) -> None:
    """A weight may be zero, a fraction or whole."""
    assert reading_of(item(weight=weight)).benchmark.tasks[0].weight == weight


@pytest.mark.parametrize(("first", "second"), [("a", "a"), (1, "1"), ("7", 7), (1.0, 1)])
def test_repeated_ids_are_refused_with_both_places(
    first: object, second: object, problems_of: Problems
) -> None:
    """Ids are texts: 1 and "1" are the same id, and both positions are named."""
    (problem,) = problems_of(item(id=first), item(id="other"), item(id=second))
    assert problem.key == "tasks[2].id"
    assert problem.found.endswith("at tasks[0] and tasks[2]")


def test_numbers_as_ids_become_text(reading_of: Reading) -> None:
    """A whole number as id is its digits."""
    tasks = reading_of(item(id=1), item(id=2.0), item(id="02")).benchmark.tasks
    assert [task.id for task in tasks] == ["1", "2", "02"]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("timeout", "timeoutMs"),
        ("timeout_ms", "timeoutMs"),
        ("Weight", "weight"),
        ("tag", "tags"),
        ("descripton", "description"),
    ],
)
def test_a_misspelt_key_of_a_task_is_refused(wrong: str, right: str, problems_of: Problems) -> None:
    """A key that nearly is a known one would silently have no effect, so it is refused."""
    (problem,) = problems_of(item(**{wrong: 1}))
    assert (problem.key, problem.hint) == (f"tasks[0].{wrong}", f"did you mean {right}?")


def test_a_misspelt_required_key_names_both(problems_of: Problems) -> None:
    """A task without expectedOutput but with something like it is told what to rename."""
    problems = problems_of(item(expectedOutput=None, expected_output={"type": "exact", "value": 3}))
    assert [(problem.key, problem.hint) for problem in problems] == [
        ("tasks[0].expected_output", "did you mean expectedOutput?"),
        ("tasks[0].expectedOutput", "rename expected_output to expectedOutput"),
    ]


@pytest.mark.parametrize("key", ["difficulty", "level", "notes", "source", "category", "title"])
def test_an_unknown_key_of_a_task_is_noticed(key: str, reading_of: Reading) -> None:
    """A key of its own is harmless and said once for all tasks that have it."""
    reading = reading_of(item(id="a", **{key: "x"}), item(id="b", **{key: "y"}))
    assert said(reading) == [
        f"tasks[0].{key} (and 1 more): unknown key {key}, without effect on the shipped scorers"
    ]


def test_keys_of_the_expected_output_are_checked_too(problems_of: Problems, reading_of: Reading) -> None:
    """A misspelt key of expectedOutput is refused, another one is noticed and kept for scorers of third parties."""
    (problem,) = problems_of(item(expectedOutput={"type": "contains", "keyword": ["a"]}))
    assert (problem.key, problem.hint) == ("tasks[0].expectedOutput.keyword", "did you mean keywords?")
    reading = reading_of(item(expectedOutput={"type": "exact", "value": 3, "unit": "m"}))
    assert reading.benchmark.tasks[0].expected == {"value": 3, "unit": "m"}
    assert said(reading)[0].startswith("tasks[0].expectedOutput.unit: unknown key unit")


def test_items_that_are_no_objects_are_refused(problems_of: Problems) -> None:
    """A text or a list in place of a task is a problem of its own."""
    problems = problems_of("t1", item(), [])
    assert [problem.key for problem in problems] == ["tasks[0]", "tasks[2]"]
    assert {problem.expected for problem in problems} == {"an object"}
