from __future__ import annotations

from typing import Any

from reports import CALCULATOR, WRONG, failure, report_of

from skilleval.report.causes import cause_line, skill_causes
from skilleval.report.document import Cause


def said(kind: str, text: str, n: int = 6) -> str:
    """Give the line of a cause."""
    return cause_line(Cause(condition_id="c", scorer="s", kind=kind, text=text, n=n))


def test_a_cause_is_one_line_with_its_number() -> None:
    """Kind, message and how often; a wrong answer is called wrong, a kind without a message stands alone."""
    assert said("no_reply", "exit code 0", 1200) == "no_reply: exit code 0 (1\u202f200×)"
    assert said("failed", "expected 4, found 5") == "wrong: expected 4, found 5 (6×)"
    assert said("timeout", "") == "timeout (6×)"


def test_a_cause_is_cut_and_safe_to_look_at() -> None:
    """Hidden characters are spelled out, and a long message keeps its number."""
    line = said("exit_code", "\x1b[31m\n" + "x" * 400)
    assert line.startswith("exit_code: \\x1b[31m\\nxxx")
    assert line.endswith("x… (6×)")
    assert len(line) == 165


def test_what_broke_is_told_once_for_several_scorers() -> None:
    """Two scorers of one condition do not repeat the error of the skill; their own reasons stay apart."""
    broke: dict[str, Any] = {"kind": "no_reply", "text": "nothing", "n": 6}
    rows = [WRONG | {"scorer": name} for name in ("exact", "contains")]
    own = [{"kind": "failed", "text": row["scorer"], "n": 1} for row in rows]
    failures = [failure(row, "t", causes=[broke, one]) for row, one in zip(rows, own, strict=True)]
    lines = [str(cause) for cause in skill_causes(report_of(*rows, CALCULATOR, failures=failures))]
    assert lines == [
        "wrong-calculator · contains: no_reply: nothing (6×)",
        "wrong-calculator · contains: wrong: contains (1×)",
        "wrong-calculator · exact: wrong: exact (1×)",
    ]


def test_without_failures_there_is_no_cause() -> None:
    """A clean run has nothing to explain, and a frame without the column does no harm."""
    assert skill_causes(report_of(CALCULATOR)) == ()
    assert report_of(WRONG, failures=[failure(WRONG, "t")]).causes == ()
