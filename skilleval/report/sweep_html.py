"""A sweep as one HTML file that needs nothing else: no network, and without scripts still all the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skilleval.figures.parallel import PAGE
from skilleval.figures.theme import GREY, HAIRLINE, INK
from skilleval.report.charts import Figure
from skilleval.report.html_environment import charts, environment
from skilleval.report.html_view import PlacedFigure
from skilleval.report.sweep_charts import sweep_figures
from skilleval.report.sweep_document import SweepReport
from skilleval.report.sweep_facts import headline, sweep_line
from skilleval.report.sweep_tables import sweep_tables
from skilleval.report.text_table import TextTable

_COLOURS = {INK: "var(--ink)", GREY: "var(--grey)", HAIRLINE: "var(--hairline)", PAGE: "var(--paper)"}
_FIGURES_OF = {"levels": ("effects",), "interactions": ("interaction",), "best": ("parallel",)}
_LAST = "jobs"


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its figures, under a heading of its own."""

    id: str
    table: TextTable
    figures: tuple[PlacedFigure, ...]


def render(report: SweepReport) -> str:
    """Write the page: the verdict, then the tables with their figures."""
    drawn = sweep_figures(report)
    sections = tuple(_sections(sweep_tables(report), drawn))
    template = environment().get_template("sweep.html.j2")
    return template.render(
        title=headline(report),
        facts=sweep_line(report),
        command=" ".join(report.about.command),
        state="" if report.is_complete else "inconclusive",
        report=report,
        sections=sections,
        colours=_COLOURS,
        charts=charts() if any(section.figures for section in sections) else "",
    )


def _sections(tables: Sequence[TextTable], drawn: dict[str, Figure]) -> Iterator[Section]:
    """Give each figure to its table; without one, that of all jobs stands by the table of jobs."""
    names = {table.name for table in tables}
    places = {table: list(figures) for table, figures in _FIGURES_OF.items() if table in names}
    if "best" not in names:
        places[_LAST] = list(_FIGURES_OF["best"])
    number = 0
    for table in tables:
        placed = []
        for name in places.get(table.name, []):
            if name in drawn:
                number += 1
                one = drawn[name]
                placed.append(PlacedFigure(number, one.title, one.caption, one.spec))
        yield Section(f"table-{table.name}", table, tuple(placed))
