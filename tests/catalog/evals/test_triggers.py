from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.catalog.evals import TriggerQuery, read_evals, read_triggers
from skilleval.domain.skills import Skill
from skilleval.errors import CatalogError

Writer = Callable[..., Skill]
YES = TriggerQuery(query="high tide?", should_trigger=True)
NO = TriggerQuery(query="a joke", should_trigger=False)


QUERIES = [{"query": "high tide?", "should_trigger": True}, {"query": "a joke", "should_trigger": False}]
LISTS = {"shouldTrigger": ["high tide?"], "shouldNotTrigger": ["a joke"]}
POLARITIES = [
    {"prompt": "high tide?", "polarity": "positive"},
    {"prompt": "a joke", "polarity": "negative"},
]
CASES = [
    {"id": 1, "prompt": "high tide?", "should_trigger": True},
    {"id": 2, "prompt": "a joke", "should_trigger": False},
]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("evals/eval_queries.json", QUERIES),
        ("evals/should_trigger.json", LISTS),
        ("evals/trigger_queries.json", {"trigger_queries": POLARITIES}),
        ("evals/evals.json", CASES),
    ],
)
def test_trigger_queries_have_many_forms(name: str, value: object, write_evals: Writer) -> None:
    """Lists of objects, two lists of texts and cases of evals say the same."""
    reading = read_triggers(write_evals(value, name=name))
    assert (reading.queries, reading.problems) == ((YES, NO), ())


def test_queries_are_no_tasks_but_counted(write_evals: Writer) -> None:
    """A case that only says whether the skill fires is left to trigger runs; with nothing else there is no task."""
    queries = [{"id": n, "prompt": f"q{n}", "should_trigger": n > 1} for n in range(4)]
    skill = write_evals([*queries, {"id": 9, "prompt": "p", "should_trigger": True, "assertions": ["a"]}])
    reading = read_evals([skill])
    assert [task.id for task in reading.benchmark.tasks] == ["tide/9"]
    assert "5 trigger queries (3 must trigger, 2 must not), which are no tasks" in reading.notices[-1]
    with pytest.raises(CatalogError, match="no skill has evals that could be run"):
        read_evals([write_evals(queries)])


def test_sc08_a_query_counts_once_and_has_one_verdict(write_evals: Writer) -> None:
    """The same text twice is one query, and two verdicts about it are a problem."""
    twice = [{"query": "high tide?", "should_trigger": True}] * 2
    assert read_triggers(write_evals(twice, name="evals/eval_queries.json")).queries == (YES,)
    torn = [*twice, {"query": "high tide?", "should_trigger": False}]
    (problem,) = read_triggers(write_evals(torn, name="evals/eval_queries.json")).problems
    assert problem.expected == "each query with one verdict"


def test_what_says_nothing_of_triggering_is_a_problem(write_evals: Writer) -> None:
    """Files of queries hold verdicts, and a broken one is told."""
    wrong = [{"query": "q"}, {"query": "", "should_trigger": True}]
    reading = read_triggers(write_evals(wrong, name="evals/eval_queries.json"))
    assert [problem.expected for problem in reading.problems] == [
        "should_trigger, true or false",
        "a query that is not empty",
    ]
    (problem,) = read_triggers(write_evals("{", name="evals/eval_queries.json")).problems
    assert problem.key.startswith("line 1")


def test_ae16_queries_are_not_read_through_a_link_out_of_the_skill(
    write_evals: Writer, tmp_path: Path
) -> None:
    """A file of queries belongs to its skill."""
    (tmp_path / "queries.json").write_text('[{"query": "q", "should_trigger": true}]')
    skill = write_evals()
    (skill.folder / "eval_queries.json").symlink_to(tmp_path / "queries.json")
    reading = read_triggers(skill)
    assert reading.queries == ()
    assert reading.problems[0].found == f"a link to {tmp_path / 'queries.json'}"
