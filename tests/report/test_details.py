from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from details import check, details_of, excerpt, report_with, trial

from skilleval.analytics.trial_details import Cuts, chosen_trials, trial_details
from skilleval.errors import ResultsError
from skilleval.report.details import TryDetail, Turn
from skilleval.report.details_part import DetailTables, details_part
from skilleval.report.document import from_json, to_json
from skilleval.report.text import json_text
from skilleval.results.schema import SCORES, TRIALS, TRIES, polars_schema

NASTY = "</script>\u2028\x00\u202e\ufeff😀\\ud800 \"'`|\r\n"
FULL = trial(
    NASTY,
    "failed",
    failure_kind="exit_code",
    latency_ms=12.5,
    cost_usd=0.001,
    input_tokens=7,
    exit_code=-9,
    notes=(NASTY,),
    message=excerpt(NASTY),
    output=excerpt(NASTY, 9000),
    transcript=(Turn(role="user", text=excerpt(NASTY)), Turn(role="tool call", name=NASTY, text=excerpt(""))),
    checks=(check("failed", NASTY, score=0.0, weight=2.0, evidence=excerpt("e")),),
    tries=(
        TryDetail(try_index=0, status="timeout", backoff_ms=0.0),
        TryDetail(try_index=1, status="completed"),
    ),
)


def frame(table: Any, *rows: dict[str, Any]) -> pl.LazyFrame:
    """Give a table in which all that is not said is null."""
    return pl.DataFrame(list(rows), schema=polars_schema(table)).lazy()


def test_the_details_of_a_trial_are_put_together() -> None:
    """Checks, tries and conversation come to their trial; an empty text is none, a number that is none is null."""
    ids = {"run_id": "r", "trial_id": "x"}
    trials = frame(
        TRIALS,
        {
            **ids, "task_id": "t", "repeat": 2, "condition_id": "c", "skill_id": "s", "status": "completed",
            "n_tries": 2, "input": "[1]", "output": "[2]", "stderr": "", "latency_ms": float("inf"), "cost_usd": 0.5,
            "tool_calls": '[{"name":"f","arguments":"{}"}]', "notes": ["n"],
        },
    )  # fmt: skip
    scores = frame(
        SCORES,
        {
            **ids, "scorer": "a", "check_id": "0", "check": "says 2", "verdict": "passed", "score": 1.0,
            "passed": True, "weight": 1.0, "required": True, "reason": "", "evidence": "seen",
        },
    )  # fmt: skip
    tries = frame(TRIES, *({**ids, "try_index": i, "status": "completed"} for i in (1, 0)))
    chosen = chosen_trials(trials, scores, 9)
    frames = trial_details(trials, tries, scores, chosen, cuts=Cuts())
    names = ("trials", "tasks", "conditions", "checks", "tries")
    found = details_part(DetailTables(**{name: getattr(frames, name).collect() for name in names}))
    assert (found.n_trials, found.is_complete, len(found.trials)) == (1, True, 1)
    assert found.trials[0] == trial(
        "t",
        condition_id="c",
        repeat=2,
        cost_usd=0.5,
        notes=("n",),
        output=excerpt("[2]"),
        transcript=(Turn(role="tool call", name="f", text=excerpt("{}")),),
        checks=(check(scorer="a", check="says 2", score=1.0, weight=1.0, evidence=excerpt("seen")),),
        tries=tuple(TryDetail(try_index=i, status="completed") for i in (0, 1)),
    )
    assert found.tasks[0].input == excerpt("[1]")


def test_details_survive_their_json() -> None:
    """A report with single trials that is read back equals the one that was written, whatever a skill said."""
    report = report_with(FULL, trial(), n_trials=5)
    assert from_json(json_text(to_json(report))) == report


def test_a_report_without_details_does_not_name_them() -> None:
    """Reports of runs that show no single trial look as they did before there were any."""
    assert "details" not in to_json(replace(report_with(trial()), details=None))


@pytest.mark.parametrize(
    ("place", "value", "key"),
    [
        (("n_trials",), -1, "details.n_trials"),
        (("is_complete",), False, "details.is_complete"),
        (("trials", 0, "task_id"), "other", "details.trials[0].task_id"),
        (("trials", 0, "condition_id"), "other", "details.trials[0].condition_id"),
        (("trials", 0, "repeat"), -1, "details.trials[0].repeat"),
        (("trials", 0, "latency_ms"), -1.0, "details.trials[0].latency_ms"),
        (("trials", 0, "checks", 0, "weight"), -2.0, "details.trials[0].checks[0].weight"),
        (("trials", 0, "tries", 1, "try_index"), -1, "details.trials[0].tries[1].try_index"),
        (("trials", 0, "output", "length"), 3, "details.trials[0].output.length"),
        (("trials", 0, "output", "colour"), 3, "details.trials[0].output.colour"),
        (("trials", 0, "transcript", 0, "text", "length"), 1, "details.trials[0].transcript[0].text.length"),
        (("tasks", 0, "task_id"), 7, "details.tasks[0].task_id"),
    ],
)
def test_wrong_details_are_refused_by_their_place(place: tuple[Any, ...], value: Any, key: str) -> None:
    """A report that was edited is not shown with trials that lead nowhere or numbers that cannot be."""
    document = json.loads(json_text(to_json(report_with(FULL))))
    target = document["details"]
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    with pytest.raises(ResultsError) as caught:
        from_json(json.dumps(document), where="r.json")
    assert key in {problem.key for problem in caught.value.problems}


def test_a_task_that_is_named_twice_is_refused() -> None:
    """Positions of tasks are what links name: each has one."""
    details = details_of([trial()])
    report = replace(report_with(trial()), details=replace(details, tasks=details.tasks * 2))
    with pytest.raises(ResultsError) as caught:
        from_json(json_text(to_json(report)))
    assert [problem.key for problem in caught.value.problems] == ["details.tasks"]
