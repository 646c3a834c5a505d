from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports import CALCULATOR, FLAKY, MANIFEST, report_of

from skilleval.app.history import Measured, chosen_scorer, measurements, read_reports, reference
from skilleval.report.document import Report, to_json

TASK = {"task": {"kind": "task"}}


def report(*rows: Mapping[str, Any], run_id: str = "20260731T120000-4f2a", **config: Any) -> Report:
    """Build a report of rows; `config` is what the run was composed with."""
    manifest = {**MANIFEST, "run_id": run_id, "started_at": run_id, "config": {"scorers": TASK, **config}}
    return report_of(*rows, manifest=manifest)


def written(folder: Path, *reports: Report) -> Path:
    """Write reports as JSON files."""
    for one in reports:
        (folder / f"{one.run.run_id}.json").write_text(json.dumps(to_json(one)))
    return folder


def test_each_scorer_of_a_run_is_a_measurement_of_its_own() -> None:
    """What two scorers say of one skill is never made one figure."""
    found = measurements(report(CALCULATOR, {**CALCULATOR, "scorer": "regex", "completion_rate": 0.5}))
    assert {one.scorer: one.figures["completion_rate"] for one in found} == {"task": 1.0, "regex": 0.5}


def test_of_several_conditions_the_lowest_rate_counts() -> None:
    """A skill is as good as in the condition that suits it least."""
    (one,) = measurements(report(CALCULATOR, {**CALCULATOR, "condition_id": "c-2", "completion_rate": 0.25}))
    assert one.figures["completion_rate"] == 0.25


def test_settings_of_scorer_and_analysis_tell_measurements_apart() -> None:
    """The same scorer with another option, and other formulas, are other methods; the rest of a config is not."""
    (usual,) = measurements(report(CALCULATOR))
    (also,) = measurements(report(CALCULATOR, runner={"repeats": 9}))
    (lenient,) = measurements(report(CALCULATOR, scorers={"task": {"kind": "task", "fallback": "contains"}}))
    (theirs,) = measurements(report(CALCULATOR, analysis={"preset": "eval_skills"}))
    assert usual.method == also.method
    assert len({usual.method, lenient.method, theirs.method}) == 3
    assert (usual.preset, theirs.preset) == ("default", "eval_skills")


def test_replayed_recordings_do_not_count_and_are_told(tmp_path: Path) -> None:
    """They are no measurement of a skill, however new they are."""
    replayed = report({**CALCULATOR, "adapter": "replay"}, FLAKY, run_id="2026b")
    history = read_reports(written(tmp_path, report(CALCULATOR, run_id="2026a"), replayed))
    assert [(one.key[0], one.run_id) for one in history.measured] == [
        ("flaky-calculator", "2026b"),
        ("calculator", "2026a"),
    ]
    assert history.replayed == {("calculator", "1.0.0", "1f" * 32)}
    assert history.notices == ("2026b does not count: no skill ran, recorded attempts were replayed",)


def test_a_report_of_a_shard_does_not_count_and_is_told(tmp_path: Path) -> None:
    """Its completion is that of a part of the tasks."""
    shard = report(CALCULATOR, run_id="2026b", plan={"shards": 2, "shard": 0})
    history = read_reports(written(tmp_path, report(CALCULATOR, run_id="2026a"), shard))
    assert [one.run_id for one in history.measured] == ["2026a"]
    (notice,) = history.notices
    assert notice.startswith(f"{tmp_path / '2026b.json'} does not count: it is of a shard")


def by(scorer: str, rate: float, run_id: str = "new", **changes: Any) -> Measured:
    """Give what a scorer says in a run."""
    (one,) = measurements(report({**CALCULATOR, "scorer": scorer, "completion_rate": rate}, run_id=run_id))
    return dataclasses.replace(one, **changes)


def test_the_scorer_that_counts() -> None:
    """The one that was asked for, else `task`, else the strictest of the newest run; without any, `task`."""
    newest_run = [by("exact", 0.5), by("contains", 1.0)]
    assert chosen_scorer([*newest_run, by("task", 1.0, "old")]) == "task"
    assert chosen_scorer([*newest_run, by("regex", 0.0, "old")]) == "exact"
    assert chosen_scorer(newest_run, "contains") == "contains"
    assert chosen_scorer([]) == "task"


def test_the_reference_is_the_newest_by_the_usual_formulas() -> None:
    """Another preset is the reference only where nothing else is there."""
    theirs, ours = by("task", 0.9, preset="eval_skills"), by("task", 0.5, "old")
    assert reference([theirs, ours], "task") is ours
    assert reference([theirs], "task") is theirs
    assert reference([theirs, ours], "exact") is None
