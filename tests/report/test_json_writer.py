from __future__ import annotations

import json

from reports import HOSTILE, WRONG, demo_report, failure, report_of

from skilleval.report.json_writer import render


def test_the_json_report_is_one_document_with_a_final_newline() -> None:
    """The report is strict JSON, readable for people, and ends as a text file should."""
    text = render(demo_report())
    assert text.startswith('{\n  "schema": "skilleval.report/1",\n')
    assert text.endswith("}\n")
    assert json.loads(text)["verdict"]["state"] == "failed"


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
