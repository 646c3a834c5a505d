"""JUnit XML: a case a skill × task × scorer, whatever skills say."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

import pytest
from gate_samples import QUICK, SHORT, UNKNOWN
from hypothesis import given
from hypothesis import strategies as st
from reports import CALCULATOR, FLAKY, HOSTILE, WRONG, cell, demo_report, failure, report_of

from skilleval.report.gates import with_gate
from skilleval.report.junit import render

_ATTRIBUTES: Mapping[str, tuple[set[str], set[str]]] = {
    "testsuites": (set(), set()),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped"}, {"timestamp"}),
    "properties": (set(), set()),
    "property": ({"name", "value"}, set()),
    "testcase": ({"name", "classname"}, set()),
    "failure": ({"message", "type"}, set()),
    "error": ({"message", "type"}, set()),
    "skipped": ({"message"}, set()),
}
"""Element → the attributes it must have, and those it may have: what the common schemas agree on."""
_CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"failure", "error", "skipped"},
}


def parsed(text: str) -> ET.Element:
    """Parse a document and hold it against the shape that the common schemas share."""
    root = ET.fromstring(text)  # noqa: S314 - our own document
    assert root.tag == "testsuites"
    for element in root.iter():
        needed, allowed = _ATTRIBUTES[element.tag]
        assert needed <= set(element.attrib) <= needed | allowed
        assert {child.tag for child in element} <= _CHILDREN.get(element.tag, set())
    for suite in root:
        assert [child.tag for child in suite].index("properties") == 0
        counts = {kind: len(suite.findall(f"testcase/{kind}")) for kind in ("failure", "error", "skipped")}
        assert {"tests": len(suite.findall("testcase"))} | {
            "failures": counts["failure"],
            "errors": counts["error"],
            "skipped": counts["skipped"],
        } == {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
        assert all(len(case) <= 1 for case in suite.findall("testcase"))
    return root


def results(root: ET.Element) -> dict[tuple[str, str], tuple[str, str]]:
    """Give how each case went, and its message."""
    found = {}
    for case in root.iter("testcase"):
        inner = case[0] if len(case) else None
        told = ("passed", "") if inner is None else (inner.tag, inner.attrib["message"])
        found[case.attrib["classname"], case.attrib["name"]] = told
    return found


def test_a_case_is_a_task_of_a_row() -> None:
    """What passed is bare, what failed says how often and why, what is flaky is called so."""
    found = results(parsed(render(demo_report())))
    assert len(found) == 12
    assert found["calculator", "sum-1"] == ("passed", "")
    assert found["wrong-calculator", "sum-1"] == ("failure", "passed 0 of 3: expected 4, found 5")
    kind, message = found["flaky-calculator", "sum-2"]
    assert (kind, message.startswith("passed 2 of 3 (flaky): ")) == ("failure", True)


def test_what_others_spoiled_is_an_error_and_what_nobody_judged_is_skipped() -> None:
    """Infrastructure and ungraded trials are no failures of a skill; a failure beside them still is one."""
    lost = {"n_graded": 0, "rate": None, "n_passed": 0}
    report = report_of(
        CALCULATOR,
        matrix=[
            cell(CALCULATOR, "down", 0) | lost,
            cell(CALCULATOR, "open", 0) | lost,
            cell(CALCULATOR, "both", 0) | {"n_graded": 1, "rate": 0.0},
        ],
        failures=[
            failure(
                CALCULATOR,
                "down",
                status="provider_error",
                verdict="ungraded",
                failure_kind="http_503",
                reason=None,
            ),
            failure(CALCULATOR, "open", verdict="ungraded", reason="the judge disagrees"),
            failure(CALCULATOR, "both", status="provider_error", verdict="ungraded", reason="x"),
            failure(CALCULATOR, "both", 1, reason="expected 4"),
        ],
    )
    found = results(parsed(render(report)))
    assert found["calculator", "down"] == ("error", "3 of 3 trials lost to the infrastructure: http_503")
    assert found["calculator", "open"] == ("skipped", "3 of 3 trials ungraded: the judge disagrees")
    assert found["calculator", "both"] == ("failure", "passed 0 of 1: expected 4")


def test_lost_trials_beyond_the_shown_ones_are_not_called_ungraded() -> None:
    """A report keeps some failures only; then the counts of the row say what may have happened."""
    lost = {"n_graded": 0, "rate": None, "n_passed": 0}
    for n, kind in ((3, "error"), (0, "skipped")):
        row = CALCULATOR | {"n_infrastructure": n}
        found = results(parsed(render(report_of(row, matrix=[cell(row, "t", 0) | lost]))))
        assert found["calculator", "t"][0] == kind


def test_rules_of_the_gate_are_cases_too() -> None:
    """A suite of their own: failed, skipped, passed."""
    root = parsed(render(with_gate(demo_report(), [SHORT, QUICK, UNKNOWN])))
    gate = {name: told for (suite, name), told in results(root).items() if suite == "gate"}
    assert [kind for kind, _ in gate.values()] == ["failure", "passed", "skipped"]
    assert next(iter(gate.values()))[1] == "0.65, 0.25 short"


def test_properties_say_what_was_run() -> None:
    """The condition, the figures with their interval and the verdict stand beside the cases."""
    suite = parsed(render(demo_report()))[1]
    said = {one.attrib["name"]: one.attrib["value"] for one in suite.iter("property")}
    assert said["benchmark"] == "coding-easy@1.1.0"
    assert said["ci_low"] == "0.5923"
    assert "2 of 3 skills" in said["verdict"]


EVIL = f"{HOSTILE}</failure></testcase></testsuites>]]><!-- \x00\x1b\u202e\ufffe\uffff &#0; ::error::x"


@pytest.mark.parametrize("text", [EVIL, "]]>", "\u2028", "&amp;", "\"'<>"])
def test_c47_hostile_text_stays_inert_in_xml(text: str) -> None:
    """Nothing a skill says ends an element, adds a case or breaks the document."""
    row: dict[str, Any] = WRONG | {"skill_id": text, "scorer": text, "model": text}
    report = report_of(
        row,
        matrix=[cell(row, text, 0)],
        failures=[failure(row, text, reason=text, output=text, message=text, stderr=text)],
        manifest={"run_id": text},
    )
    rendered = render(report)
    assert rendered.encode()
    root = parsed(rendered)
    assert (len(root), len(list(root.iter("testcase")))) == (1, 1)


@given(st.text(max_size=40))
def test_any_text_gives_a_document(text: str) -> None:
    """Whatever characters a task or a reason has."""
    row = FLAKY
    report = report_of(
        row, matrix=[cell(row, text, 1)], failures=[failure(row, text, reason=text, output=text)]
    )
    assert len(list(parsed(render(report)).iter("testcase"))) == 1
