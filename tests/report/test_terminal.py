from __future__ import annotations

import io

import pytest
from reports import HOSTILE, WRONG, demo_report, report_of
from rich.console import Console

from skilleval.report.document import Report
from skilleval.report.terminal import table


def printed(report: Report, width: int = 130, *, colour: bool = False) -> str:
    """Give what a terminal of this width shows."""
    console = Console(
        file=io.StringIO(), width=width, force_terminal=colour, color_system="truecolor" if colour else None
    )
    console.print(table(report, width=width))
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def test_the_table_shows_each_skill_on_one_line() -> None:
    """Skill, tasks × repeats, completion with interval, errors, latency, consistency with flaky, composite."""
    lines = [" ".join(line.split()) for line in printed(demo_report()).splitlines()]
    assert "skill tasks × repeats completion errors p50 / p95 consistency composite" in lines
    assert "flaky-calculator 20 × 3 0.717 [0.592, 0.818] 0.0167 21.3ms / 10s 0.906 14 flaky 0.651" in lines


def test_the_verdict_stands_above_the_table() -> None:
    """The verdict comes first, the remarks with their shapes come last."""
    text = printed(demo_report())
    assert text.index("✕ FAILED 1 of 3 skills") < text.index("composite")
    assert text.index("composite") < text.index("✕ wrong-calculator: fails all 60 graded trials")


@pytest.mark.parametrize("width", [80, 100, 130])
def test_nothing_is_cut_at_common_widths(width: int) -> None:
    """Every number of the table is whole on a terminal of 80 columns too."""
    text = printed(demo_report(), width)
    for number in ("0.717", "[0.592, 0.818]", "0.0167", "21.3ms /", "14 flaky", "0.9997", "composite"):
        assert number in text
    assert all(len(line) <= width for line in text.splitlines())


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
