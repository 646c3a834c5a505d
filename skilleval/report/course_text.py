"""The course of a skill over its runs in words: what a line of it is called, and where it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilleval.report.metric_text import style_of
from skilleval.report.numbers import Style, p_text, shown, signed
from skilleval.report.sparkline import sparkline


def line_name(about: Mapping[str, str | None]) -> str:
    """Name a line: the skill, on what, judged by whom, and how it was driven."""
    driven = " · ".join(str(about[name]) for name in ("adapter", "model", "sandbox") if about[name])
    mode = "" if about["mode"] == "direct" else f" · {about['mode']}"
    place = f"{about['benchmark_id']}@{about['benchmark_version']} by {about['scorer']}"
    return f"{about['skill_id']}{mode} on {place} ({driven})"


def course(values: Sequence[float | None], metric: str) -> str:
    """Draw the values of a line as a row of bars; rates between 0 and 1."""
    ends = {"low": 0.0, "high": 1.0} if style_of(metric) is Style.RATE else {}
    return sparkline(values, **ends)


def change_text(change: Mapping[str, Any], metric: str) -> str:
    """Say a change between two runs that follow each other in a sentence; its keys are those of `history --json`."""
    style, before, after = style_of(metric), change["before"], change["after"]
    values = f"{shown(before, style)} → {shown(after, style)}"
    gap = f"{signed(after - before, style)}, {p_text(change['p_value'])}, {change['n_tasks']} tasks"
    why = "with other files of the skill" if change["skill_changed"] else "with the same files of the skill"
    return f"changed at {change['run_id']}: {values} ({gap}), {why}"
