from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
from arm_frames import UPLIFT, arm_report
from reports import CALCULATOR, FLAKY, WRONG, demo_report, report_of

from skilleval.analytics.spec import (
    AnalysisSpec,
    CompositeWeights,
    IntervalMethod,
    Preset,
    ScoringMethod,
)
from skilleval.analytics.summary import summary
from skilleval.errors import ResultsError
from skilleval.report import WRITERS
from skilleval.report.document import Report, from_json, to_json
from skilleval.report.value_rules import Kind, kind_of, value_problems
from skilleval.results.schema import SCORES, TRIALS, polars_schema

KINDS = {
    Kind.DIFFERENCE: pl.Float64(),
    Kind.WHOLE: pl.Int64(),
    Kind.AMOUNT: pl.Float64(),
    Kind.SHARE: pl.Float64(),
    Kind.TEXT: pl.String(),
}
SPEC = AnalysisSpec(
    preset=Preset.DEFAULT,
    level=0.95,
    k=1,
    weights=CompositeWeights(completion=1, partial=0, speed=0, reliability=0),
    scoring_method=ScoringMethod.MEAN,
    max_latency_ms=None,
    seed=0,
    serial_latency=False,
    reused_latency=False,
    interval=IntervalMethod.AGRESTI_COULL_T,
    family=None,
    resamples=1000,
)


def stored(report: Report) -> dict[str, Any]:
    """Give a report as its JSON file holds it."""
    loaded: dict[str, Any] = json.loads(json.dumps(to_json(report)))
    return loaded


def refusals(document: dict[str, Any]) -> dict[str, str]:
    """Read a report with wrong values; give what was expected under each key."""
    with pytest.raises(ResultsError) as caught:
        from_json(json.dumps(document), where="r.json")
    assert {problem.where for problem in caught.value.problems} == {"r.json"}
    return {problem.key: problem.expected for problem in caught.value.problems}


def test_every_column_of_the_summary_has_a_rule() -> None:
    """A new metric has a name that says what its values may be, and is of that type."""
    trials, scores = (pl.LazyFrame(schema=polars_schema(table)) for table in (TRIALS, SCORES))
    for name, dtype in summary(trials, scores, spec=SPEC).collect_schema().items():
        kind = kind_of(name)
        assert kind is not None, name
        assert KINDS[kind] == dtype, name


@pytest.mark.parametrize("value", ["text", "", 1e308, 10**30, 3.0, True, -1])
def test_a_count_is_a_whole_number(value: Any) -> None:
    """Whatever else stands where a count belongs is refused with file, key and what was expected."""
    document = stored(report_of(CALCULATOR, FLAKY, WRONG))
    document["summary"][2]["n_tasks"] = value
    assert refusals(document) == {"summary[2].n_tasks": "a whole number, 0 or more"}


def test_each_value_out_of_its_range_is_told() -> None:
    """Rates lie between 0 and 1, latencies are not negative, an interval begins before it ends."""
    document = stored(demo_report())
    document["summary"][0] |= {"completion_rate": 7.5, "error_rate": -2, "p95_ms": -1, "skill_id": 5}
    document["summary"][1] |= {"ci_low": 0.9, "ci_high": 0.1}
    document["matrix"][3] |= {"rate": 1.5, "n_passed": -1}
    document["failures"][0]["output"]["length"] = -1
    document["slices"][0]["ci_low"] = 2.0
    document["run"]["n_trials"] = -4
    document["threshold"] = 1.2
    document["provenance"]["reused"] = {"r1": "many"}
    assert refusals(document) == {
        "threshold": "a number from 0 to 1",
        "run.n_trials": "a whole number, 0 or more",
        "summary[0].completion_rate": "a number from 0 to 1",
        "summary[0].error_rate": "a number from 0 to 1",
        "summary[0].p95_ms": "a number, 0 or more",
        "summary[0].skill_id": "a text",
        "summary[1].ci_low": "at most ci_high, which is 0.1",
        "matrix[3].rate": "a number from 0 to 1",
        "matrix[3].n_passed": "a whole number, 0 or more",
        "failures[0].output.length": "a whole number, 0 or more",
        "slices[0].ci_low": "a number from 0 to 1",
        "provenance.reused.r1": "a whole number, 0 or more",
    }


def test_a_list_in_a_cell_is_one_problem() -> None:
    """A value that no cell may have is told once, not once a type."""
    document = stored(report_of(CALCULATOR))
    document["summary"][0]["composite"] = [1]
    assert refusals(document) == {"summary[0].composite": "one value: a text, a number, true, false or null"}


@pytest.mark.parametrize("value", ["text", "", 1e308, 10**30, 10**400, 0, 1, 0.5, True, None], ids=range(10))
def test_what_is_accepted_can_be_drawn(value: Any) -> None:
    """A report that was read without complaint is written in every format without a fault."""
    document = stored(report_of(CALCULATOR, FLAKY))
    row = document["summary"][0]
    for name in [*row, "of_another_version"]:
        tried = document | {"summary": [row | {name: value}, document["summary"][1]]}
        if not list(value_problems(tried, "")):
            row[name] = value
    report = from_json(json.dumps(document))
    for name, writer in WRITERS.items():
        assert writer.render(report), name


def test_rounding_in_the_last_place_is_no_fault() -> None:
    """A mean of ones may come out a hair above one."""
    assert not list(value_problems(to_json(report_of(CALCULATOR | {"composite": 1 + 1e-12})), ""))


def test_a_part_that_compares_arms_is_held_against_the_rules_too() -> None:
    """A difference of shares lies between −1 and 1, a score between 0 and 1; below zero alone is no fault."""
    document = stored(arm_report(uplift=[UPLIFT | {"uplift": -0.5, "uplift_low": -1.0, "uplift_high": 0.0}]))
    assert not list(value_problems(document, ""))
    document["uplift"][0] |= {"uplift": -1.5, "score_baseline": -0.5, "n_cases": -1}
    assert refusals(document) == {
        "uplift[0].uplift": "a number from -1 to 1",
        "uplift[0].score_baseline": "a number from 0 to 1",
        "uplift[0].n_cases": "a whole number, 0 or more",
    }
