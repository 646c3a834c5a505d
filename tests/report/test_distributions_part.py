from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import polars as pl
from figure_reports import drawn_report
from reports import demo_report

from skilleval.report.distributions_part import distributions_part, fronts_part
from skilleval.report.document import from_json, to_json

ROW: dict[str, Any] = {
    "condition_id": "c",
    "measure": "latency_ms",
    "unit": "ms",
    "n": 3,
    "n_censored": 1,
    "mean": 2.0,
    "shares": [1 / 3, 2 / 3, 1.0],
    "values": [1.0, 1.0, 4.0],
}
FRONT: dict[str, Any] = {
    "condition_id": "a",
    "scorer": "task",
    "measure": "p50_ms",
    "value": 3.0,
    "dominated_by": ["b"],
    "is_on_front": False,
}


def test_a_value_that_comes_again_is_told_once() -> None:
    """With the largest share of trials that do not exceed it."""
    (one,) = distributions_part(pl.DataFrame([ROW]))
    assert dict(zip(one.values, one.shares, strict=True)) == {1.0: 0.666666667, 4.0: 1.0}
    assert (one.condition_id, one.n, one.n_censored, one.mean) == ("c", 3, 1, 2.0)


def test_a_single_condition_has_no_front() -> None:
    """There is nobody to be better than."""
    assert fronts_part(pl.DataFrame([FRONT, FRONT | {"measure": "mean_cost_usd"}])) == ()
    found = fronts_part(pl.DataFrame([FRONT, FRONT | {"condition_id": "b", "dominated_by": []}]))
    assert [(one.condition_id, one.dominated_by) for one in found] == [("a", ("b",)), ("b", ())]


def test_the_parts_survive_their_json() -> None:
    """A report read back equals the one it was written from; empty parts are left out."""
    report = drawn_report()
    document = to_json(report)
    assert from_json(json.dumps(document)) == report
    assert len(document["distributions"]) == len(document["fronts"]) == 6
    assert not {"distributions", "fronts"} & to_json(replace(demo_report())).keys()
