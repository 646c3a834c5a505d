"""File checks look at the files of an attempt, and at nothing outside them."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from samples import record

from skilleval.domain.files import FileKind, TaskFile
from skilleval.domain.scores import Verdict
from skilleval.scorers.base import MISSING, Finding, ScoringRecord
from skilleval.scorers.files import FilesOptions, FilesScorer

SCORER = FilesScorer(FilesOptions(max_file_bytes=1000, timeout_ms=20_000.0))
TEXT = "Total: 12\n"
VALUE = {"rows": [{"sum": 12.0}], "ok": True}
P, F, U = Verdict.PASSED, Verdict.FAILED, Verdict.UNGRADED
RESPONSE, OUTPUT = "outputs/response.txt", "outputs/output.json"


def attempt(output: Any, *checks: Any, **changes: Any) -> ScoringRecord:
    """Give an attempt whose task has these checks."""
    return replace(record(output, expected={"file_checks": list(checks)}), **changes)


def one(output: Any, **check: Any) -> Finding:
    """Judge an output by one check."""
    (finding,) = asyncio.run(SCORER.findings(attempt(output, check)))
    return finding


@pytest.mark.parametrize(
    ("output", "check", "expected"),
    [
        (TEXT, {"path": RESPONSE, "exists": True}, P),
        (TEXT, {"path": f"./{RESPONSE}", "exists": True}, P),
        (TEXT, {"path": RESPONSE, "exists": False}, F),
        (TEXT, {"path": RESPONSE, "not_exists": True}, F),
        (TEXT, {"path": OUTPUT, "exists": True}, F),
        (TEXT, {"path": OUTPUT, "not_exists": True}, P),
        (MISSING, {"path": RESPONSE, "exists": True}, F),
        ("", {"path": RESPONSE, "exists": True}, P),
        (TEXT, {"path": RESPONSE, "contains": "Total"}, P),
        (TEXT, {"path": RESPONSE, "contains": ["Total", "13"]}, F),
        (TEXT, {"path": RESPONSE, "matches": r"\d{2}"}, P),
        (TEXT, {"path": RESPONSE, "matches": r"\d{3}"}, F),
        (TEXT, {"path": RESPONSE, "equals": TEXT}, P),
        (TEXT, {"path": RESPONSE, "equals": TEXT.strip()}, F),
        (TEXT, {"path": RESPONSE, "max_bytes": 10}, P),
        (TEXT, {"path": RESPONSE, "max_bytes": 9}, F),
        (TEXT, {"path": RESPONSE, "exists": True, "contains": "Total", "max_bytes": 5}, F),
        (VALUE, {"path": OUTPUT, "json_path": "rows[0].sum", "value": 12}, P),
        (VALUE, {"path": OUTPUT, "json_path": "ok", "value": 1}, F),
        (VALUE, {"path": OUTPUT, "json_path": "nowhere", "value": None}, F),
        (TEXT, {"path": RESPONSE, "json_path": "a", "value": 1}, F),
        (VALUE, {"path": OUTPUT, "equals": {"ok": True, "rows": [{"sum": 12}]}}, P),
        (VALUE, {"path": "attempt.json", "contains": "file_checks"}, P),
        (VALUE, {"path": "tool_calls.json", "exists": True}, F),
        (VALUE, {"path": RESPONSE, "contains": "x"}, F),
    ],
)
def test_each_rule_says_what_it_means(output: Any, check: dict[str, Any], expected: Verdict) -> None:
    """All rules of a check have to hold; JSON is compared by value; a file that is not there holds nothing."""
    finding = one(output, **check)
    assert finding.verdict is expected
    assert (finding.reason == "") is (expected is P)


@pytest.mark.parametrize(
    "check",
    [
        {"path": "../secret.txt", "exists": True},
        {"path": "outputs/../../secret.txt", "not_exists": True},
        {"path": "/etc/hostname", "exists": True},
        {"path": "", "exists": True},
        {"path": "a\0b", "not_exists": True},
        {"exists": True},
        {"path": RESPONSE},
        {"path": RESPONSE, "value": 1},
        {"path": RESPONSE, "json_path": "a"},
        {"path": RESPONSE, "json_path": "a..b", "value": 1},
        {"path": RESPONSE, "contain": "Total"},
        {"path": RESPONSE, "exists": "yes"},
        {"path": RESPONSE, "exists": True, "not_exists": True},
        {"path": RESPONSE, "contains": ""},
        {"path": RESPONSE, "contains": []},
        {"path": RESPONSE, "matches": "("},
        {"path": RESPONSE, "matches": ""},
        {"path": RESPONSE, "max_bytes": "10"},
    ],
)
def test_a_check_that_asks_for_nothing_clear_is_ungraded(check: dict[str, Any]) -> None:
    """Paths that leave the folder, misspelt rules and rules that always hold neither pass nor fail."""
    finding = one(TEXT, **check)
    assert finding.verdict is U
    assert finding.reason


def test_a_misspelt_rule_is_told_the_right_one() -> None:
    """The reason names what was probably meant."""
    assert "did you mean contains?" in one(TEXT, path=RESPONSE, contain="Total").reason


def test_limits_of_size_and_time_leave_a_check_ungraded() -> None:
    """A file beyond `max_file_bytes` is not read, and a pattern without end is given up."""
    assert "more than 1000 are not read" in one("x" * 1001, path=RESPONSE, contains="x").reason
    hurried = FilesScorer(FilesOptions(max_file_bytes=1000, timeout_ms=200.0))
    endless = attempt("a" * 60 + "!", {"path": RESPONSE, "matches": "^(a|aa)+$"})
    (given_up,) = asyncio.run(hurried.findings(endless))
    assert "took longer than 200 ms" in given_up.reason


def test_inputs_and_tool_calls_are_files_too(tmp_path: Path) -> None:
    """Input files are those that were read with the tasks: one that has changed since judges nothing."""
    source = tmp_path / "a.bin"
    source.write_bytes(b"\x00one")
    digest = hashlib.sha256(b"\x00one").hexdigest()
    file = TaskFile(name="data/a.bin", source=source, n_bytes=4, digest=digest, kind=FileKind.BINARY)
    checks = [{"path": "inputs/data/a.bin", "contains": "one"}, {"path": "tool_calls.json", "equals": []}]
    seen = attempt(TEXT, *checks, files=(file,), tool_calls=())
    assert [one.verdict for one in asyncio.run(SCORER.findings(seen))] == [P, P]
    source.write_bytes(b"\x00two")
    changed = asyncio.run(SCORER.findings(seen))
    assert [one.verdict for one in changed] == [U, U]
    assert "not what it was" in changed[0].reason


def test_each_check_has_a_finding_of_its_own() -> None:
    """Its id, description or a sentence, and weight; what is no check is ungraded."""
    checks = [
        {"path": RESPONSE, "contains": "Total", "id": "total", "description": "says the total", "weight": 2},
        {"path": RESPONSE, "max_bytes": 10},
        "outputs/response.txt",
    ]
    found = asyncio.run(SCORER.findings(attempt(TEXT, *checks)))
    assert [one.check_id for one in found] == ["total", "f2", "f3"]
    assert [one.check for one in found[:2]] == ["says the total", "outputs/response.txt: max_bytes 10"]
    assert [one.verdict for one in found] == [P, P, U]
    assert found[0].weight == 2.0


def test_an_output_without_end_is_ungraded() -> None:
    """What cannot be written as a file is no failure of the skill."""
    output: Any = 0
    for _ in range(100_000):
        output = [output]
    assert one(output, path=OUTPUT, exists=True).verdict is U
