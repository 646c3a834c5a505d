from __future__ import annotations

from pathlib import Path

from stored_runs import TASKS, Runs

from skilleval.app.items import analyse_items


def test_runs_of_one_skill_are_one_subject(tmp_path: Path) -> None:
    """Two runs of one content are one subject, so that nothing correlates; dead tasks are told all the same."""
    runs = Runs(tmp_path / "a")
    folders = [str(runs.run(wrong=TASKS[:1])), str(runs.run(wrong=TASKS[:2]))]
    found = analyse_items(folders, store=runs.store)
    assert found.findings() == {"all_pass": 6, "all_fail": 1}
    assert found.tasks["n_subjects"].to_list() == [1] * 8
    assert found.tests["method"].item().startswith("not known: 1 subject has")
    assert found.facts()["tasks"][1]["pass_rate"] == 0.5
