from __future__ import annotations

import io

import pytest
from reports import CALCULATOR, HOSTILE, WRONG, demo_report, report_of
from rich.console import Console

from skilleval.report.document import Report
from skilleval.report.terminal import table


def printed(report: Report, width: int | None = None, *, colour: bool = False) -> str:
    """Give what a terminal of this width shows; without a width, what a file gets."""
    console = Console(
        file=io.StringIO(),
        width=width or 80,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
    )
    console.print(table(report, width=width), soft_wrap=True)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def test_the_table_shows_each_skill_on_one_line() -> None:
    """Skill, tasks × repeats, completion with interval, errors, latency, consistency with flaky, composite."""
    lines = [" ".join(line.split()) for line in printed(demo_report()).splitlines()]
    assert "skill tasks × repeats completion errors p50 / p95 consistency composite" in lines
    assert "flaky-calculator 20 × 3 0.717 [0.592, 0.818] 1/60 21.3ms / 10s 0.906 14 flaky 0.651" in lines


def test_the_verdict_stands_above_the_table() -> None:
    """The verdict comes first, the remarks with their shapes come last."""
    text = printed(demo_report())
    assert text.index("✕ FAILED Completion ≥ 0.7 for 2 of 3 skills") < text.index("composite")
    assert text.index("composite") < text.index("✕ wrong-calculator: fails all 60 graded trials")


@pytest.mark.parametrize("width", [40, 60, 70, 80, 100, 130])
def test_no_word_and_no_number_is_broken(width: int) -> None:
    """At any width every number is whole and no line is longer than the terminal."""
    text = printed(demo_report(), width)
    for word in ("0.717", "[0.592, 0.818]", "1/60", "21.3ms /", "14 flaky", "0.9997", "composite"):
        assert word in text
    assert all(len(line) <= width for line in text.splitlines())


def test_a_short_name_does_not_break_its_heading() -> None:
    """The heading of the first column is whole above a name of four letters."""
    lines = printed(report_of(CALCULATOR | {"skill_id": "calc"}), 80).splitlines()
    (heading,) = (line for line in lines if "completion" in line and "errors" in line)
    assert heading.split()[0] == "skill"


def test_a_narrow_terminal_gets_a_block_a_skill() -> None:
    """Below the width of the table each skill is a name and a metric a line."""
    lines = printed(demo_report(), 60).splitlines()
    start = lines.index("flaky-calculator")
    assert lines[start + 1 : start + 5] == [
        "  tasks × repeats  20 × 3",
        "  completion       0.717 [0.592, 0.818]",
        "  errors           1/60",
        "  p50 / p95        21.3ms / 10s",
    ]


def test_a_file_gets_lines_as_long_as_they_are() -> None:
    """Without a terminal no sentence is broken and no line ends with blanks."""
    lines = printed(demo_report()).splitlines()
    (verdict,) = (line for line in lines if line.startswith("✕ FAILED"))
    assert verdict.endswith("flaky-calculator is flaky on 14 of 20 tasks.")
    assert all(line == line.rstrip() for line in lines)


def test_partial_credit_is_a_column_where_it_differs() -> None:
    """A score that is not the completion rate is shown, else it would only repeat it."""
    assert "partial score" not in printed(demo_report())
    lines = printed(report_of(WRONG | {"partial_score": 0.25})).splitlines()
    (row,) = (line.split() for line in lines if line.startswith("wrong-calculator"))
    assert row[7] == "0.25"
    assert any("partial score" in line for line in lines)


def test_the_causes_stand_under_the_remarks() -> None:
    """Each skill says why it failed and how often, in one safe line each."""
    lines = printed(demo_report()).splitlines()
    why = lines.index("Why, per skill, most frequent first:")
    assert lines[why - 1] == "✕ wrong-calculator: fails all 60 graded trials"
    assert lines[why + 2 :] == [
        "  flaky-calculator: wrong: expected 4, found 5 (16×)",
        "  wrong-calculator: wrong: expected 4, found 5 (60×)",
    ]
    assert lines[why + 1].startswith("  flaky-calculator: timeout: </script><img src=x")
    assert lines[why + 1].endswith("\\u2028 (1×)")


def test_foreign_text_is_neither_markup_nor_control() -> None:
    """A skill cannot colour the terminal, ring it, or move its cursor."""
    text = printed(report_of(WRONG | {"skill_id": "[red]x[/]\x1b[2J\x07\u202e"}), colour=True)
    assert "[red]x[/]" in text
    assert "\\x1b[2J" in text
    assert "\x1b[2J" not in text
    assert "\x07" not in text
    assert "\u202e" not in text


def test_c47_the_hostile_id_is_text() -> None:
    """The hostile text of C47 as a skill id is printed and nothing else."""
    assert "<img" in printed(report_of(WRONG | {"skill_id": HOSTILE}))


def test_what_is_not_known_is_a_dash() -> None:
    """A row without numbers is a row of dashes."""
    lines = [" ".join(line.split()) for line in printed(report_of({"skill_id": "lost"})).splitlines()]
    assert "lost – × – – – – / – – –" in lines


def test_an_empty_report_has_a_verdict() -> None:
    """Nothing evaluated is said, without a crash."""
    assert "Nothing was evaluated." in printed(report_of())
