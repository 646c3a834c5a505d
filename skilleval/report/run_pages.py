"""The pages that list stored runs and show their course: plain HTML that works without scripts.

Addresses are built here and nowhere else; every word in them is quoted, and every text on the pages is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from skilleval.report.course_text import change_text, course, line_name
from skilleval.report.html_environment import environment
from skilleval.report.metric_text import valued
from skilleval.report.numbers import DASH, count, rate
from skilleval.report.run_list import RUN_SHAPES, SHARDS_TOO, Asked, RunEntry, RunState

PER_PAGE = 100
STYLE_SHEET = "style.css"

_SORTED = {
    "started": "started (UTC)",
    "run": "run",
    "state": "state",
    "experiment": "experiment",
    "benchmark": "benchmark",
    "skills": "skills",
    "scorers": "scorers",
    "trials": "trials",
}
_NUMERIC = {"trials"}
_SECONDS = len("2026-01-31T12:00:00")
_WIDTH, _HEIGHT, _EDGE = 640, 150, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One line of a course: what it is of, its runs (`run_id`, `value`, `low`, `high`, …), and its changes."""

    about: Mapping[str, str | None]
    points: Sequence[Mapping[str, Any]]
    changes: Sequence[Mapping[str, Any]]
    note: str


def address(place: str, /, **query: str) -> str:
    """Give the address of a page of ours."""
    asked = urlencode({name: value for name, value in query.items() if value}, errors="replace")
    return f"/{place}?{asked}" if asked else f"/{place}"


def runs_page(
    entries: Sequence[RunEntry], asked: Asked, everything: Sequence[RunEntry], *, place: str
) -> str:
    """Write the list: `entries` are those that were asked for, `everything` what could be."""
    last = max(1, -(-len(entries) // PER_PAGE))
    page = min(max(asked.page, 1), last)
    first = (page - 1) * PER_PAGE
    n_shards = sum(entry.shard is not None for entry in everything)
    n_hidden = 0 if asked.shards else n_shards
    return _rendered(
        "serve_runs.html.j2",
        place=place,
        asked=asked,
        entries=entries[first : first + PER_PAGE],
        first=first + 1,
        n_found=len(entries),
        n_all=len(everything) - n_hidden,
        n_hidden=n_hidden,
        with_shards=address("", **asked.changed(page=1, shards=SHARDS_TOO)),
        choices=_choices(everything),
        heads=[_head(asked, name) for name in _SORTED],
        pages=_pages(asked, page, last),
        raw={name: address(f"runs.{name}", **asked.changed(page=1)) for name in ("json", "csv")},
        trends=address("trends", **asked.changed(page=1, sort="-started")),
        is_filtered=bool(asked.changed(page=1, sort="-started")),
    )


def trends_page(
    lines: Sequence[Course], asked: Asked, *, metric: str, notices: Sequence[str], most: int
) -> str:
    """Write the courses of the skills; `most` is how many runs they show at most."""
    return _rendered(
        "serve_trends.html.j2",
        lines=[_line(line, metric) for line in lines],
        notices=notices,
        most=most,
        asked=asked.changed(page=1, sort="-started"),
        runs=address("", **asked.changed(page=1)),
        size=(_WIDTH, _HEIGHT),
    )


def problem_page(title: str, lines: Sequence[str]) -> str:
    """Write what went wrong, and the way back."""
    return _rendered("serve_problem.html.j2", title=title, lines=lines)


def _rendered(template: str, **values: Any) -> str:
    return (
        environment()
        .get_template(template)
        .render(
            **values,
            style_sheet=STYLE_SHEET,
            address=address,
            shapes=RUN_SHAPES,
            count=count,
            dash=DASH,
            moment=moment,
        )
    )


def moment(time: str | None) -> str:
    """Write a time to the second, without its zone, which stands in the header."""
    return time[:_SECONDS].replace("T", " ") if time else DASH


def _choices(entries: Sequence[RunEntry]) -> dict[str, list[str]]:
    """List what can be chosen: all that any run has."""
    return {
        "benchmark": sorted({entry.benchmark_id for entry in entries if entry.benchmark_id}),
        "skill": sorted({skill for entry in entries for skill in entry.skills if skill}),
        "scorer": sorted({scorer for entry in entries for scorer in entry.scorers if scorer}),
        "experiment": sorted({entry.experiment for entry in entries if entry.experiment}),
        "state": [state.value for state in RunState],
    }


def _head(asked: Asked, name: str) -> dict[str, Any]:
    """Give a column header, and the address that puts the runs in its order, or turns it round."""
    is_up, is_down = asked.sort == name, asked.sort == f"-{name}"
    order = "ascending" if is_up else "descending" if is_down else "none"
    turned = f"-{name}" if is_up else name
    return {
        "label": _SORTED[name],
        "order": order,
        "mark": {"ascending": " ↑", "descending": " ↓"}.get(order, ""),
        "link": address("", **asked.changed(sort=turned, page=1)),
        "is_numeric": name in _NUMERIC,
    }


def _pages(asked: Asked, page: int, last: int) -> dict[str, Any]:
    def link(number: int) -> str:
        return address("", **asked.changed(page=number)) if 1 <= number <= last else ""

    return {"page": page, "last": last, "before": link(page - 1), "after": link(page + 1)}


def _line(line: Course, metric: str) -> dict[str, Any]:
    values = [point["value"] for point in line.points]
    return {
        "name": line_name(line.about),
        "course": course(values, metric),
        "marks": _marks(line.points),
        "rows": [
            {
                "run_id": point["run_id"],
                "key": point.get("key", ""),
                "cells": (
                    moment(point["started_at"]),
                    point["skill_version"] or DASH,
                    valued(metric, point["value"], point["low"], point["high"]),
                    count(point["n_tasks"]),
                    count(point["n_graded"]),
                ),
            }
            for point in line.points
        ],
        "changes": [change_text(change, metric) for change in line.changes],
        "note": line.note,
    }


def _marks(points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Place the runs of a line in its drawing, oldest left, each with its interval; unknown ones are left out."""
    step = (_WIDTH - 4 * _EDGE) / max(len(points) - 1, 1)
    return [
        {
            "x": round(3 * _EDGE + number * step, 1),
            "y": _high(point["value"]),
            "low": _high(point["low"] if point["low"] is not None else point["value"]),
            "high": _high(point["high"] if point["high"] is not None else point["value"]),
            "title": f"{point['run_id']}: {rate(point['value'])}",
        }
        for number, point in enumerate(points)
        if point["value"] is not None
    ]


def _high(share: float) -> float:
    return round(_HEIGHT - _EDGE - share * (_HEIGHT - 2 * _EDGE), 1)
