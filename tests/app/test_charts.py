"""Figures of stored runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from stored_runs import TASKS, Runs

import skilleval
from skilleval.app.analyse import analyse


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Give two runs of one skill."""
    made = Runs(tmp_path_factory.mktemp("charts"))
    return made.run(wrong=TASKS[:2]), made.run()


def test_a_run_is_drawn_as_in_its_report(folders: tuple[Path, Path]) -> None:
    """By folder or as an opened run, for the page or for paper."""
    one, _ = folders
    page = skilleval.chart(one, "completion").to_dict()
    assert page == skilleval.chart(skilleval.open_run(one), "completion").to_dict()
    paper = skilleval.chart(one, "completion", paper=True).to_dict()
    assert (page["width"], paper["width"]) == ("container", 240)
    assert page["layer"] == paper["layer"]


def test_runs_are_drawn_together(folders: tuple[Path, Path]) -> None:
    """Their names are told apart by the run."""
    found = skilleval.chart(list(folders), "latency").to_dict()
    lines = next(rows for rows in found["datasets"].values() if isinstance(rows[0]["value"], list))
    assert len({row["row"] for row in lines}) == 2
    assert all(row["row"].rpartition(" · ")[2] in {folder.name for folder in folders} for row in lines)


def test_a_report_has_the_distribution_behind_its_percentiles(folders: tuple[Path, Path]) -> None:
    """The median of the table is a value of the distribution, and each task has an outcome a repeat."""
    report = analyse(folders[0])
    (latency,) = (one for one in report.distributions if one.measure == "latency_ms")
    reached = next(value for value, share in zip(latency.values, latency.shares, strict=True) if share >= 0.5)
    assert reached == report.summary[0]["p50_ms"]
    assert latency.n == report.summary[0]["n_latency"]
    assert sorted(cell.outcomes for cell in report.matrix) == ["f"] * 2 + ["p"] * 6


def test_mistakes_are_told(folders: tuple[Path, Path]) -> None:
    """A name that is none, no run, and a figure for which the run has nothing."""
    with pytest.raises(skilleval.SkillevalError, match="no such figure"):
        skilleval.chart(folders[0], "pie")
    with pytest.raises(skilleval.SkillevalError, match="no run is named"):
        skilleval.chart([], "completion")
    with pytest.raises(skilleval.SkillevalError, match="nothing to draw as agreement"):
        skilleval.chart(folders[0], "agreement")
