from __future__ import annotations

import json

import pytest
from details import report_with, trial
from reports import HOSTILE, WRONG, demo_report, failure, report_of

from skilleval.report.document import Report, to_json
from skilleval.report.json_writer import render


def test_the_json_report_is_one_document_with_a_final_newline() -> None:
    """The report is strict JSON, readable for people, and ends as a text file should."""
    text = render(demo_report())
    assert text.startswith('{\n  "schema": "skilleval.report/1",\n')
    assert text.endswith("}\n")
    assert json.loads(text)["verdict"]["state"] == "failed"


@pytest.mark.parametrize(
    "report",
    [
        demo_report(),
        report_with(trial()),
        report_of(),
        report_of(WRONG, failures=[failure(WRONG, "t", output="a\nb\r\u0085[\n{")]),
    ],
    ids=["demo", "trials", "empty", "breaks"],
)
def test_the_layout_changes_nothing(report: Report) -> None:
    """What is read back is the document, key by key in its order; breaks of lines inside of texts stay in them."""
    found = json.loads(render(report))
    assert found == json.loads(json.dumps(to_json(report)))
    assert list(found) == list(to_json(report))


def test_a_trial_is_a_line() -> None:
    """Of many trials the file holds a line each, not one a value."""
    report = report_with(trial(task_id="a"), trial(task_id="b"))
    found = [
        line.strip().removesuffix(",") for line in render(report).splitlines() if '"task_id": "b"' in line
    ]
    trials = json.loads(render(report))["details"]["trials"]
    assert json.dumps(trials[1], ensure_ascii=False) in found


def test_c47_the_hostile_output_is_kept_as_it_is() -> None:
    """The JSON report holds foreign text unchanged; only its spelling is safe."""
    text = render(report_of(WRONG, failures=[failure(WRONG, "t", output=HOSTILE)]))
    assert "\u2028" not in text
    assert json.loads(text)["failures"][0]["output"]["text"] == HOSTILE


def test_null_stays_null() -> None:
    """What is not known is null in the file, never NaN and never 0."""
    (row,) = json.loads(render(report_of({"skill_id": "lost"})))["summary"]
    assert row["completion_rate"] is None
    assert row["p95_ms"] is None
