from __future__ import annotations

import json
from typing import Any

import pytest
from reports import CALCULATOR, WRONG, demo_report, failure, report_of

from skilleval.errors import ResultsError
from skilleval.report.document import Report, from_json, to_json
from skilleval.report.text import json_text

NASTY = "</script>\u2028\x00\u202e\ufeff😀\\ud800 \"'`|\r\n"


def stored(report: Report) -> dict[str, Any]:
    """Give the JSON of a report as a reader finds it."""
    loaded: dict[str, Any] = json.loads(json_text(to_json(report)))
    return loaded


@pytest.mark.parametrize(
    "report",
    [
        demo_report(),
        report_of(),
        report_of(CALCULATOR),
        report_of({"skill_id": "unknown"}),
        report_of({"skill_id": NASTY}, manifest={"command": NASTY, "config": {NASTY: [1, None, 0.5]}}),
        report_of(WRONG, failures=[failure(WRONG, NASTY, output=NASTY, latency_ms=None)]),
        report_of(CALCULATOR, gate={"min_completion": None}, manifest={}),
    ],
    ids=["demo", "empty", "one", "nulls", "nasty", "nasty failure", "no gate"],
)
def test_a_report_survives_its_json(report: Report) -> None:
    """A report read back equals the one that was written."""
    assert from_json(json_text(to_json(report))) == report


def test_the_schema_comes_first() -> None:
    """A reader sees in the first line what kind of file it is."""
    assert next(iter(to_json(report_of()).items())) == ("schema", "skilleval.report/1")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "Expecting value"),
        ("[]", "'a list'"),
        ('{"schema": "skilleval.report/2"}', "'skilleval.report/2'"),
        ('{"skillId": "x"}', "None"),
        ('{"schema": NaN}', "NaN, which is no number in JSON"),
        ('{"schema": 1e999}', "1e999, which is no number in JSON"),
    ],
)
def test_another_file_is_refused_with_what_was_expected(text: str, found: str) -> None:
    """A file that is no report names the file, what was expected and what was found."""
    with pytest.raises(ResultsError) as caught:
        from_json(text, where="other.json")
    (problem,) = caught.value.problems
    assert problem.where == "other.json"
    assert problem.expected
    assert found in problem.found


def test_each_wrong_key_is_a_problem_of_its_own() -> None:
    """Wrong, unknown and missing keys are all told at once, by their dotted path."""
    document = stored(demo_report())
    document["run"]["n_tasks"] = "four"
    document["verdict"]["colour"] = "red"
    del document["title"]
    with pytest.raises(ResultsError) as caught:
        from_json(json.dumps(document))
    found = {problem.key: problem.expected for problem in caught.value.problems}
    assert found == {
        "title": "a value",
        "run.n_tasks": "a valid integer",
        "verdict.colour": "a known key",
    }


def test_a_summary_row_with_nan_is_refused() -> None:
    """No way leads a NaN into a report, not even a file that holds one."""
    text = json_text(to_json(report_of(CALCULATOR))).replace('"ci_low": 0.788948', '"ci_low": NaN')
    with pytest.raises(ResultsError, match="NaN"):
        from_json(text)
