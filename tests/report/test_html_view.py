from __future__ import annotations

from skilleval.report.charts import Figure
from skilleval.report.html_view import placed


def test_figures_stand_in_their_sections_and_are_numbered_in_order() -> None:
    """Completion stands with the skills, what is not named with time and cost, a map of tasks is a table already."""
    names = ("pareto", "heatmap", "completion", "slices", "novelty")
    drawn = [Figure(name=name, title=name, caption="", spec={}) for name in names]
    found = placed(drawn)
    assert [(one.number, one.title) for one in found.skills] == [(1, "completion")]
    assert [(one.number, one.title) for one in found.cost] == [(2, "pareto"), (3, "novelty")]
    assert [(one.number, one.title) for one in found.tags] == [(4, "slices")]
