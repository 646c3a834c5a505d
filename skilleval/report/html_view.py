"""What the HTML page shows, worked out before the template: rows, cells and links, still without any markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skilleval.report.agreement_tables import document_tables
from skilleval.report.breakdown import Disagreement, TagRow, by_tag, disagreements, scorers
from skilleval.report.cases import skill_cases
from skilleval.report.causes import SkillCause, skill_causes
from skilleval.report.charts import Figure
from skilleval.report.document import Report
from skilleval.report.html_failures import FailureList, failure_list
from skilleval.report.html_places import places
from skilleval.report.html_skills import SkillRow, skill_rows
from skilleval.report.html_tasks import TaskCell, TaskTable, Told, places_told, task_cell, task_table
from skilleval.report.text_table import TextTable

_SECTIONS = {
    "uplift": "uplift",
    "completion": "skills",
    "slices": "tags",
    "agreement": "agreement",
}
_IN_TABLES = frozenset({"heatmap"})
_OTHERS = "cost"


@dataclass(frozen=True, slots=True)
class DisputedTask:
    """One task of one skill that its scorers judge differently."""

    skill: str
    task_id: str
    cells: tuple[TaskCell, ...]


@dataclass(frozen=True, slots=True)
class PlacedFigure:
    """A figure with the number a reader knows it by."""

    number: int
    title: str
    caption: str
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Placed:
    """The figures of each section, numbered in the order of the page."""

    uplift: tuple[PlacedFigure, ...]
    skills: tuple[PlacedFigure, ...]
    cost: tuple[PlacedFigure, ...]
    tags: tuple[PlacedFigure, ...]
    agreement: tuple[PlacedFigure, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """All that the template places."""

    skills: tuple[SkillRow, ...]
    tasks: TaskTable
    failures: FailureList
    causes: tuple[SkillCause, ...]
    tags: tuple[TagRow, ...]
    scorers: tuple[str, ...]
    disagreements: tuple[DisputedTask, ...]
    agreement: tuple[TextTable, ...]
    figures: Placed

    def contents(self, report: Report) -> Iterator[tuple[str, str]]:
        """Give the id and the name of every section, in their order."""
        sections = (
            ("gate", "Gate", report.gates),
            ("uplift", "What the skills add", report.uplift),
            ("skills", "Skills", True),
            ("tasks", "Where it fails", self.tasks.rows),
            ("disagreements", "Where scorers disagree", len(self.scorers) > 1),
            ("cost", "Time and cost", self.figures.cost),
            ("tags", "By tag", self.tags or self.figures.tags),
            ("failures", "Failed trials", self.failures.groups),
            (f"agreement-{self.agreement[0].name if self.agreement else ''}", "Agreement", self.agreement),
            ("judges", "Judging", report.judge_spend),
            ("provenance", "Provenance", True),
        )
        return ((place, name) for place, name, is_there in sections if is_there)


def page(report: Report, figures: Sequence[Figure]) -> Page:
    """Work out the page of a report."""
    known = places(report)
    failures = failure_list(report, skill_cases(report), known)
    told = places_told(known, failures.listed)
    skills = skill_rows(report, failures.told)
    return Page(
        skills=skills,
        tasks=task_table(report, skills, told),
        failures=failures,
        causes=skill_causes(report),
        tags=by_tag(report),
        scorers=scorers(report),
        disagreements=tuple(_disputed(one, told) for one in disagreements(report)),
        agreement=document_tables(report.agreement),
        figures=placed(figures),
    )


def placed(figures: Sequence[Figure]) -> Placed:
    """Put each figure into its section; what the page has as a table is not drawn again."""
    shown = [figure for figure in figures if figure.name not in _IN_TABLES]
    parts: dict[str, tuple[PlacedFigure, ...]] = {}
    number = 1
    for part in Placed.__slots__:
        found = [figure for figure in shown if _SECTIONS.get(figure.name, _OTHERS) == part]
        parts[part] = tuple(
            PlacedFigure(i, one.title, one.caption, one.spec) for i, one in enumerate(found, number)
        )
        number += len(found)
    return Placed(**parts)


def _disputed(one: Disagreement, told: Told) -> DisputedTask:
    return DisputedTask(one.skill, one.task_id, tuple(task_cell(cell, told) for cell in one.cells))
