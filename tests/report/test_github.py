"""What GitHub Actions shows, and what it must never obey."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from gate_samples import QUICK, SHORT
from reports import CALCULATOR, HOSTILE, WRONG, demo_report, failure, report_of

from skilleval.report.comment import comment
from skilleval.report.gates import with_gate
from skilleval.report.github import render, workflow_commands

FILES = {"calculator": "skills/a,b/skill.json", "wrong-calculator": "skills/wrong/SKILL.md"}


def test_the_summary_of_a_step_begins_with_the_verdict() -> None:
    """Verdict, gate, skills, then all checks and the tasks that failed."""
    text = render(with_gate(demo_report(), [SHORT, QUICK]))
    assert text.startswith("### ✕ FAILED\n\n1 of 2 checks of the gate failed")
    places = [text.index(part) for part in ("| rule |", "| skill |", "#### All checks", "## Where it fails")]
    assert places == sorted(places)


def test_a_failed_check_is_an_error_and_a_failing_skill_a_warning() -> None:
    """Each names the file of its skill; what passes everything is not mentioned."""
    errors: list[str] = []
    warnings: list[str] = []
    for line in workflow_commands(with_gate(demo_report(), [SHORT, QUICK]), FILES):
        (errors if line.startswith("::error ") else warnings).append(line)
    said = "completion_rate ≥ 0.9 for calculator 1.0.0 · task: 0.65, 0.25 short"
    assert errors == [f"::error file=skills/a%2Cb/skill.json,title=gate not met::{said}"]
    assert [line.partition("::completion")[0] for line in warnings] == [
        "::warning title=flaky-calculator",
        "::warning file=skills/wrong/SKILL.md,title=wrong-calculator",
    ]
    assert warnings[1].endswith("completion 0 [0, 0.211]; wrong: expected 4, found 5 (60×)")


def test_no_more_is_said_than_is_shown() -> None:
    """GitHub shows ten errors and ten warnings of a step."""
    rows = [WRONG | {"skill_id": f"s{i}", "condition_id": f"c{i}"} for i in range(30)]
    lines = workflow_commands(with_gate(report_of(*rows), [SHORT] * 30), {})
    assert [sum(line.startswith(f"::{kind} ") for line in lines) for kind in ("error", "warning")] == [10, 10]


@pytest.mark.parametrize(
    "text",
    [
        "::error::owned",
        "\n::set-output name=a::b",
        "\r##[add-mask]a",
        "x##[error]y",
        "%0A::stop-commands::t",
        HOSTILE,
    ],
)
def test_hostile_text_is_no_command(text: str) -> None:
    """Text of skills neither begins a line nor holds a legacy command, and its percent signs are only signs."""
    row = WRONG | {"skill_id": text, "scorer": text}
    causes = [{"kind": "failed", "text": text, "n": 60}]
    report = report_of(row, failures=[failure(row, text, causes=causes)])
    lines = workflow_commands(with_gate(report, [replace(SHORT, skill_id=text, reason=text)]), {text: text})
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning"]
    for line in lines:
        assert len(line.splitlines()) == 1
        assert "##[" not in line
        assert "%0A" not in line
        properties = line.split(" ", 1)[1].partition("::")[0]
        assert properties.count(":") == 0


def test_a_comment_is_short_and_says_what_became_of_the_baseline() -> None:
    """Verdict first, then the change, then only what did not pass; many skills are cut."""
    text = comment(with_gate(demo_report(), [SHORT, QUICK]), change="regressed: −8.3 pp")
    assert text.index("FAILED") < text.index("regressed: −8.3 pp") < text.index("| rule |")
    assert "p95_ms" not in text.partition("| skill | tasks")[0].partition("| rule |")[2]
    assert "1 check of the gate passed." in text
    rows = [CALCULATOR | {"skill_id": f"s{i}", "condition_id": f"c{i}"} for i in range(50)]
    assert "30 further rows" in comment(report_of(*rows))


def test_c47_hostile_text_is_inert_in_a_comment() -> None:
    """Markup in what skills say is shown as code, and no line of it begins a command."""
    row = WRONG | {"skill_id": HOSTILE}
    report = with_gate(report_of(row), [replace(SHORT, skill_id=HOSTILE, reason=HOSTILE)])
    for text in (comment(report, change=HOSTILE), render(report)):
        assert not any(line.startswith(("::", "<script", "<img")) for line in text.splitlines())
        assert "</script><img" not in re.sub("`[^`]*`", "", text)
