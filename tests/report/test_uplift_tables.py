from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from arm_frames import ASSERTION, CASE, SPEND, UPLIFT, arm_report
from reports import CALCULATOR, HOSTILE, demo_report, report_of
from rich.console import Console

from skilleval.report import WRITERS
from skilleval.report.cases import skill_cases
from skilleval.report.causes import skill_causes
from skilleval.report.document import Report
from skilleval.report.terminal import table
from skilleval.report.uplift_tables import (
    assertion_table,
    case_table,
    judge_table,
    signal_counts,
    uplift_table,
)


def printed(report: Report, width: int | None = None) -> list[str]:
    """Give the lines a terminal shows."""
    console = Console(width=width or 400, color_system=None)
    with console.capture() as captured:
        console.print(table(report, width=width), soft_wrap=True)
    return captured.get().splitlines()


def test_the_row_of_a_comparison() -> None:
    """Both scores, the difference with its interval, p, gain, cases won and lost, costs, and the finding."""
    found = uplift_table(arm_report())
    assert found is not None
    assert dict(zip(found.header, found.rows[0], strict=True)) == {
        "skill": "csv-totals",
        "baseline": "without",
        "cases": "12 × 3",
        "with": "0.9",
        "baseline score": "0.48",
        "uplift": "+0.42 [+0.21, +0.63]",
        "p": "0.002",
        "gain": "+0.808",
        "better / same / worse": "10 / 2 / 0",
        "Δ tokens": "+1\u202f930",
        "Δ time": "+1.8\u202fs",
        "Δ cost": "+$0.0031",
        "finding": "✓ helps",
    }
    assert len(found.numeric) == len(found.header)


def test_costs_that_no_row_knows_are_no_columns() -> None:
    """Without a price there is no column of dashes."""
    found = uplift_table(arm_report(uplift=[UPLIFT | {"usd_difference": None}]))
    assert found is not None
    assert "Δ cost" not in found.header
    assert len(found.rows[0]) == len(found.header)


def test_the_greatest_loss_comes_first_and_what_does_not_count_last() -> None:
    """Cases are ordered by what a reader looks for; the reason of a missing one stands there."""
    rows: list[dict[str, Any]] = [
        CASE | {"task_id": "lost", "difference": None, "left_out": "errors with the skill"},
        CASE,
        CASE | {"task_id": "worse", "difference": -0.5},
    ]
    found = case_table(arm_report(cases=rows))
    assert found is not None
    assert [row[2] for row in found.rows] == ["worse", "csv-totals/1", "lost"]
    assert found.rows[2][-1] == "left out: errors with the skill"
    assert found.rows[1][3:] == ("1 (3)", "0.5 (3)", "+0.5", "flaky in the baseline")


def test_assertions_that_need_a_hand_come_first() -> None:
    """Harm before failure before noise; what works comes last, each with its advice."""
    rows = [
        ASSERTION | {"signal": signal} for signal in ("only_with", "always_pass", "flaky", "only_without")
    ]
    report = arm_report(assertions=rows)
    found = assertion_table(report)
    assert found is not None
    assert [row[6] for row in found.rows] == ["only without", "flaky", "always pass", "only with"]
    assert found.rows[0][-1] == ASSERTION["advice"]
    assert signal_counts(report) == "1 only without · 1 flaky · 1 always pass · 1 only with"


def test_what_judging_took_stands_apart() -> None:
    """Calls, failures, tokens, money and time of each judge; what is not known is a dash."""
    found = judge_table(arm_report(spend=[SPEND, SPEND | {"model": "free", "cost_usd": None}]))
    assert found is not None
    expected = ("judge-1", "evals", "72", "1", "61\u202f000", "5\u202f200", "0.25", "43.2\u202fs")
    assert found.rows[0] == expected
    assert found.rows[1][6] == "–"


@pytest.mark.parametrize("name", ["html", "markdown"])
def test_a_document_has_all_sections(name: str) -> None:
    """The sentence, its caveats, the cases, the assertions with advice and the judges stand in every document."""
    text = WRITERS[name].render(arm_report(uplift=[UPLIFT | {"n_repeats": 1}]))
    for part in (
        "What the skills add",
        "one repeat: what the same case",
        "csv-totals/1",
        "Names the total",
        "this is the value of the skill",
        "What judging took",
        "judge-1",
        "csv-totals · with_skill",
        "csv-totals · without_skill",
    ):
        assert part in text


@pytest.mark.parametrize("name", ["html", "markdown", "json", "csv"])
def test_a_run_without_arms_says_nothing_of_them(name: str) -> None:
    """Its report is what it was before there were arms."""
    text = WRITERS[name].render(demo_report())
    for part in ("What the skills add", "What judging took", "judge errors", "uplift_cases"):
        assert part not in text


@pytest.mark.parametrize("name", WRITERS)
def test_foreign_text_of_arms_stays_text(name: str) -> None:
    """An assertion, a case or a model cannot break out of its cell, and every writer takes it."""
    hostile = {"skill_id": HOSTILE, "task_id": HOSTILE}
    report = arm_report(
        uplift=[UPLIFT | {"skill_id": HOSTILE}],
        cases=[CASE | hostile],
        assertions=[ASSERTION | hostile | {"check": HOSTILE}],
        spend=[SPEND | {"model": HOSTILE}],
    )
    text = WRITERS[name].render(report)
    assert text.encode()
    if name == "html":
        assert HOSTILE not in text
        assert "<img src=x" not in text


def test_long_tables_are_cut_in_markdown() -> None:
    """A pull request shows the first rows and says where the rest is."""
    rows = [CASE | {"task_id": f"t{i}"} for i in range(60)]
    assert "10 more rows are in the JSON report." in WRITERS["markdown"].render(arm_report(cases=rows))


def test_a_terminal_says_what_the_skills_add() -> None:
    """First the table, the caveats and the assertions counted, then the arms, then the judges."""
    lines = printed(arm_report(uplift=[UPLIFT | {"n_repeats": 1}]))
    start = lines.index("What the skills add:")
    assert lines[start + 1].split()[:4] == ["skill", "finding", "baseline", "cases"]
    assert lines[start + 3].startswith("csv-totals  ✓ helps")
    assert lines[start + 4].startswith("▲ csv-totals: one repeat")
    assert lines[start + 5] == "assertions: 1 only with"
    assert lines[start + 7].split()[0] == "skill"
    assert any(line.startswith("  judge judge-1 · scorer evals · calls 72") for line in lines)


def test_many_skills_share_a_line_of_what_is_true_of_all() -> None:
    """A caveat is told once with the skills that it is about, or as one of all."""
    few = {"finding": "inconclusive", "n_wins": 1, "n_repeats": 1}
    rows = [UPLIFT | {"skill_id": f"s{i}", "n_repeats": 1} for i in range(3)]
    lines = printed(arm_report(uplift=[*rows, UPLIFT | few | {"skill_id": "t"}]))
    assert sum("one repeat" in line for line in lines) == 1
    assert any(line.startswith("▲ all 4: one repeat") for line in lines)
    assert any(line.startswith("▲ t: only 1 case moved") for line in lines)


def test_the_finding_stands_beside_the_name_and_short_times_are_milliseconds() -> None:
    """What matters most is not the column that a narrow page cuts off, and no time is written with leading zeros."""
    found = uplift_table(arm_report(uplift=[UPLIFT | {"seconds_difference": -0.000352}]))
    assert found is not None
    assert found.header[:3] == ("skill", "finding", "baseline")
    assert dict(zip(found.header, found.rows[0], strict=True))["Δ time"] == "−0.352\u202fms"


def test_a_price_that_is_not_known_is_a_dash_with_a_reason() -> None:
    """The note under the judges names the model without a price, and is silent where all are known."""
    unknown = judge_table(arm_report(spend=[SPEND | {"cost_usd": None}]))
    known = judge_table(arm_report(spend=[SPEND]))
    assert unknown is not None
    assert known is not None
    assert unknown.note.endswith("USD is a dash where no price is known: judge-1.")
    assert "dash" not in known.note


@pytest.mark.parametrize("name", ["html", "markdown"])
def test_what_the_skills_add_comes_before_how_the_arms_did(name: str) -> None:
    """A document answers the question of the run first, as its verdict does."""
    text = WRITERS[name].render(arm_report())
    assert text.index("What the skills add") < text.index("tasks × repeats")


def test_failed_trials_say_of_which_arm_they_are() -> None:
    """Two arms of one skill have headings of their own; a run without arms names none."""
    report = dataclasses.replace(
        demo_report(),
        summary=tuple({**row, "mode": f"mode-{i}"} for i, row in enumerate(demo_report().summary)),
    )
    arms = {one.arm for one in skill_cases(report)}
    assert "" not in arms
    assert len(arms) > 1
    assert all(arm in WRITERS[name].render(report) for arm in arms for name in ("html", "markdown"))
    assert {one.arm for one in skill_cases(demo_report())} == {""}


def test_why_a_baseline_fails_is_not_listed() -> None:
    """What the model lacks without the skill is what the skill is there for."""
    compared = arm_report()
    alone = dataclasses.replace(compared, uplift=())
    without = [one.name for one in skill_causes(alone) if "without_skill" in one.name]
    assert [one.name for one in skill_causes(compared) if "without_skill" in one.name] == []
    assert without or not skill_causes(alone)


def test_a_narrow_terminal_gets_the_sentences_only() -> None:
    """No line is longer than the terminal, and no figure is lost."""
    lines = printed(arm_report(), 80)
    assert all(len(line) <= 80 for line in lines)
    assert "Δ tokens" not in "\n".join(lines)
    assert "csv-totals adds +0.42" in "\n".join(lines)


def test_a_baseline_is_not_remarked_upon() -> None:
    """That the model fails without the skill is no fault to warn of."""
    assert not any(line.startswith("✕ csv-totals · without_skill") for line in printed(arm_report()))
    assert any("✕ csv-totals · without_skill" in line for line in printed(arm_report(uplift=[])))


@pytest.mark.parametrize("name", ["html", "markdown"])
def test_no_document_blames_a_baseline(name: str) -> None:
    """A failing baseline is marked as failing only where nothing is compared with it."""
    assert "fails all" not in WRITERS[name].render(arm_report())
    assert "fails all" in WRITERS[name].render(arm_report(uplift=[]))


def test_without_rows_there_is_no_table() -> None:
    """A report without arms has none of the tables."""
    report = report_of(CALCULATOR)
    assert {one(report) for one in (uplift_table, case_table, assertion_table, judge_table)} == {None}
