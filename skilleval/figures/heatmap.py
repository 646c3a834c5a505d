"""Tasks by skills, a stripe a repeat: what failed is dark and has a mark, so that no colour need be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.labels import row_labels
from skilleval.figures.layout import drawing, fitting_names, framed
from skilleval.figures.theme import (
    BROKEN_COLOUR,
    FAILED_COLOUR,
    GREY,
    INK,
    PASSED_COLOUR,
    UNGRADED_COLOUR,
)

MAX_TASKS, MAX_SKILLS = 60, 12
_ROW_HEIGHT = 16
_HEAD_HEIGHT = 20
_SHORT = 14
"""Longer names of skills stand upright."""
_LETTERS = 22
"""So many letters of them there is room for."""

_OUTCOMES = {"p": "passed", "f": "failed", "e": "did not complete", "u": "ungraded"}
_COLOURS = (PASSED_COLOUR, FAILED_COLOUR, BROKEN_COLOUR, UNGRADED_COLOUR)
_MARKS = {"f": "M-1,-1L1,1M1,-1L-1,1", "e": "triangle-up", "u": "circle"}
_CROWDED = 24
"""From so many stripes beside each other on, marks would touch: light and dark tell them apart then."""

_KEYS = ("condition_id", "scorer", "run_id", "benchmark_id", "benchmark_version")
_Cells = list[dict[str, Any]]


def chart(rows: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:  # noqa: ARG001 - the gate is about rates
    """Draw the outcome of every repeat.

    Grain: one row a condition × scorer × task.
    Columns: `task_id`, `outcomes` (a letter a repeat), and what names a condition.
    """
    tasks, skills, cells = _shown(rows)
    most = max((len(str(cell["outcomes"])) for cell in cells), default=1)
    base = (
        drawing([_cell(cell) for cell in cells])
        .transform_flatten(["letters", "repeats"], as_=["letter", "repeat"])
        .encode(
            x=alt.X("row:N", scale=alt.Scale(domain=skills, paddingInner=0.12), axis=_columns(skills)),
            xOffset=alt.XOffset("repeat:O", scale=alt.Scale(domain=list(range(most)))),
            y=_task_rows(tasks),
            tooltip=_tooltip(),
        )
    )
    stripes = base.mark_rect(stroke=GREY, strokeWidth=0.4).encode(color=_colours())
    layers: list[Any] = [stripes]
    if len(skills) * most < _CROWDED:
        layers += [_marked(base, letter, shape) for letter, shape in _MARKS.items()]
    return framed(layers, height=_HEAD_HEIGHT + _ROW_HEIGHT * max(len(tasks), 1))


def cut(rows: pl.DataFrame) -> str:
    """Say how many tasks and skills are not drawn."""
    n_tasks, n_skills = rows["task_id"].n_unique(), len(_names(_told(rows)))
    left_out = [
        f"{min(n, most)} of {n} {what}"
        for n, most, what in ((n_tasks, MAX_TASKS, "tasks"), (n_skills, MAX_SKILLS, "columns"))
        if n > most
    ]
    return f"Shown: {' and '.join(left_out)}." if left_out else ""


def _told(rows: pl.DataFrame) -> _Cells:
    return [row for row in rows.to_dicts() if row.get("outcomes")]


def _key(cell: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(cell.get(key) for key in _KEYS)


def _names(cells: _Cells) -> dict[tuple[Any, ...], str]:
    """Name the columns in full: a condition and its scorer each."""
    first = {_key(cell): cell for cell in reversed(cells)}
    ordered = dict(sorted(first.items(), key=lambda item: tuple(map(str, item[0]))))
    return dict(zip(ordered, row_labels(list(ordered.values())), strict=True))


def _shown(rows: pl.DataFrame) -> tuple[list[str], list[str], _Cells]:
    """Choose the tasks that went worst, and the columns in the order of the best; ties stay in order of names."""
    cells = _told(rows)
    names = _names(cells)
    named = [cell | {"row": names[_key(cell)]} for cell in cells]
    skills = sorted(set(names.values()), key=lambda name: (-_passed(named, "row", name), name))[:MAX_SKILLS]
    kept = [cell for cell in named if cell["row"] in set(skills)]
    tasks = sorted(
        {str(cell["task_id"]) for cell in kept}, key=lambda task: (_passed(kept, "task_id", task), task)
    )
    chosen = set(tasks[:MAX_TASKS])
    return tasks[:MAX_TASKS], skills, [cell for cell in kept if str(cell["task_id"]) in chosen]


def _passed(cells: _Cells, key: str, value: str) -> float:
    """Give the share of repeats that passed."""
    told = "".join(str(cell["outcomes"]) for cell in cells if cell[key] == value)
    return told.count("p") / len(told)


def _cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    letters = list(str(cell["outcomes"]))
    told = {key: cell.get(key) for key in ("row", "n", "n_passed")} | {"task": cell["task_id"]}
    return told | {
        "letters": [_OUTCOMES.get(letter, "ungraded") for letter in letters],
        "repeats": list(range(len(letters))),
    }


def _columns(skills: Sequence[str]) -> alt.Axis:
    longest = min(max(map(len, skills), default=0), _LETTERS)
    return alt.Axis(
        title=None,
        ticks=False,
        domain=False,
        orient="top",
        labelAngle=0 if len(skills) * longest <= 4 * _SHORT else -90,
        labelExpr=fitting_names(skills, "datum.label", _LETTERS),
    )


def _task_rows(tasks: Sequence[str]) -> alt.Y:
    shown = fitting_names(tasks, "datum.label")
    axis = alt.Axis(title=None, ticks=False, domain=False, labelPadding=6, labelExpr=shown)
    return alt.Y("task:N", scale=alt.Scale(domain=list(tasks), paddingInner=0.15), axis=axis)


def _colours() -> alt.Color:
    scale = alt.Scale(domain=list(_OUTCOMES.values()), range=list(_COLOURS))
    return alt.Color("letter:N", scale=scale, legend=None)


def _marked(base: alt.Chart, letter: str, shape: str) -> alt.Chart:
    found = base.transform_filter(f"datum.letter === '{_OUTCOMES[letter]}'")
    ink = INK if letter != "e" else UNGRADED_COLOUR
    marks = found.mark_point(shape=shape, stroke=ink, filled=False, opacity=1, style="outcome")
    drawn: alt.Chart = marks
    return drawn


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("task:N", title="task"),
        alt.Tooltip("row:N", title="skill"),
        alt.Tooltip("repeat:Q", title="repeat"),
        alt.Tooltip("letter:N", title="outcome"),
        alt.Tooltip("n_passed:Q", title="passed"),
        alt.Tooltip("n:Q", title="of trials"),
    ]
