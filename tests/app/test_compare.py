from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from recorded_runs import DOWN, RIGHT, WRONG, Workload, write_workload

from skilleval.analytics.metric import summarise
from skilleval.analytics.paired import pair_statistics, sign_flip_test
from skilleval.app.compare import compare
from skilleval.app.evaluate import evaluate
from skilleval.errors import ResultsError, UsageError
from skilleval.report.diff_document import Diff, DiffRow

Endings = Mapping[str, Mapping[str, Any]]
TASKS = tuple(f"t{i:02}" for i in range(12))


def ran(workload: Workload, endings: Endings, *overrides: str) -> str:
    """Run the workload with these endings; give the folder of the run."""
    workload.record(endings)
    return str(evaluate(workload.prepared(*overrides), observe=lambda _: None).folder)


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    """Give twelve tasks."""
    return write_workload(tmp_path, dict.fromkeys(TASKS, RIGHT))


def compared(before: str, after: str, **options: Any) -> Diff:
    """Compare two runs."""
    return compare(before, after, store=Path(before).parent, labels=("main", "branch"), **options)


def only(found: Diff) -> DiffRow:
    """Give the only row."""
    (row,) = found.rows
    return row


def test_a_run_and_itself_have_an_empty_difference(workload: Workload) -> None:
    """Nothing flipped, nothing moved, nothing was left out; that they are the same is said."""
    folder = ran(workload, dict.fromkeys(TASKS, RIGHT))
    found = compared(folder, folder)
    row = only(found)
    assert (found.change, row.flips, row.left_out, row.is_same) == ("unchanged", (), {}, True)
    assert [metric["n_better"] + metric["n_worse"] for metric in row.metrics] == [0, 0]
    assert [beside["delta"] for beside in row.beside if beside["delta"] is not None] == [0.0, 0.0, 0.0]
    assert "both sides are the same run" in found.warnings


def test_a_regression_is_the_first_thing_said(workload: Workload) -> None:
    """Eight of twelve tasks broke: regressed, with interval, p and the tasks; the other way round it improved."""
    before = ran(workload, dict.fromkeys(TASKS, RIGHT))
    after = ran(workload, dict.fromkeys(TASKS, RIGHT) | dict.fromkeys(TASKS[:8], WRONG))
    found = compared(before, after)
    assert found.sentence == (
        "regressed: −66.7 pp [−98, −35.4] on 8 of 12 tasks, p = 0.0078; tasks broken: t00, t01, t02, 5 more"
    )
    assert found.is_confirmed
    assert compared(after, before).change == "improved"
    assert not compared(after, before).is_confirmed


def test_only_shared_tasks_are_compared_also_in_untested_metrics(workload: Workload) -> None:
    """A task that one run lacks or has no verdict of is listed, and no figure counts it."""
    before = ran(workload, dict.fromkeys(TASKS, RIGHT))
    after = ran(workload, dict.fromkeys(TASKS, RIGHT) | {"t00": DOWN, "t01": WRONG})
    row = only(compared(before, after))
    assert row.left_out == {"ungraded after": ("t00",)}
    by_name = {metric["metric"]: metric for metric in row.metrics}
    assert by_name["completion_rate"]["n_tasks"] == 11
    composite = next(beside for beside in row.beside if beside["metric"] == "composite")
    # Half the weight is completion, the rest follows it here: one of eleven tasks, not two of twelve.
    assert composite["delta"] == pytest.approx(-1 / 11, abs=0.01)


def test_what_differs_besides_the_skill_is_warned_of_or_refused(workload: Workload) -> None:
    """Another concurrency and another patience are named; with `strict` each of them is a problem."""
    before = ran(workload, dict.fromkeys(TASKS, RIGHT))
    after = ran(workload, dict.fromkeys(TASKS, RIGHT), "runner.concurrency=1", "runner.timeout_ms=5000")
    warnings = compared(before, after).warnings
    assert any("concurrency (4 and 1)" in warning for warning in warnings)
    assert any("runner.timeout_ms 30000" in warning for warning in warnings)
    with pytest.raises(UsageError, match="differ in more than their skills") as caught:
        compared(before, after, strict=True)
    assert len(caught.value.problems) == len(warnings)


def test_c45_the_baseline_is_a_role_and_no_runs_are_an_error(workload: Workload, tmp_path: Path) -> None:
    """The first run is the baseline whatever it is called; an empty store is an error, never +0.00."""
    worse = ran(workload, dict.fromkeys(TASKS, WRONG))
    better = ran(workload, dict.fromkeys(TASKS, RIGHT))
    for labels in (("old_skill", "with_skill"), ("with_skill", "old_skill")):
        found = compare(worse, better, store=tmp_path, labels=labels)
        assert only(found).metrics[0]["effect"] == 1.0
        assert found.sentence.startswith("improved: +100 pp")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ResultsError, match="no run is stored"):
        compare("previous", "latest", store=tmp_path / "empty", labels=("a", "b"))


def test_previous_is_the_newest_earlier_run_of_the_benchmark(workload: Workload) -> None:
    """`previous latest` compares the last two; the first run has nothing before it."""
    first = ran(workload, dict.fromkeys(TASKS, RIGHT))
    store = Path(first).parent
    with pytest.raises(ResultsError, match="no earlier run"):
        compare("previous", "latest", store=store, labels=("a", "b"))
    second = ran(workload, dict.fromkeys(TASKS, WRONG))
    found = compare("previous", "latest", store=store, labels=("a", "b"))
    assert (found.baseline.run_id, found.candidate.run_id) == (Path(first).name, Path(second).name)
    with pytest.raises(UsageError, match="is a baseline"):
        compare("latest", "previous", store=store, labels=("a", "b"))


def test_previous_can_be_compared(workload: Workload) -> None:
    """Runs without a common scorer, or with a damaged manifest, are passed over in the search for a baseline."""
    first = Path(ran(workload, dict.fromkeys(TASKS, RIGHT)))
    ran(workload, dict.fromkeys(TASKS, RIGHT), "scorer=contains")
    damaged = first.parent / f"{first.name.partition('-')[0]}-ffffff"
    damaged.mkdir()
    (damaged / "manifest.json").write_text(
        '{"run_id": "x", "ended_at": "2026", "skills": [1], "benchmark": {}}'
    )
    second = ran(workload, dict.fromkeys(TASKS, WRONG))
    found = compare("previous", "latest", store=first.parent, labels=("a", "b"))
    assert (found.baseline.run_id, found.candidate.run_id) == (first.name, Path(second).name)


def test_reports_are_compared_by_their_verdicts(workload: Workload) -> None:
    """Of a JSON report tasks and rates are known: the same verdict as of the runs, without latencies of tasks."""
    before = ran(workload, dict.fromkeys(TASKS, RIGHT))
    after = ran(workload, dict.fromkeys(TASKS, RIGHT) | dict.fromkeys(TASKS[:8], WRONG))
    reports = [str(Path(folder) / "report.json") for folder in (before, after)]
    by_rows, by_reports = only(compared(before, after)), only(compared(reports[0], reports[1]))
    assert by_reports.sentence == by_rows.sentence
    assert [metric["metric"] for metric in by_reports.metrics] == ["completion_rate"]
    assert by_reports.beside[-1]["delta"] == pytest.approx(by_rows.beside[-1]["delta"])


def test_runs_that_share_nothing_are_no_comparison(workload: Workload) -> None:
    """Different scorers judge different things: an error that says what either side has."""
    before = ran(workload, dict.fromkeys(TASKS, RIGHT))
    after = ran(workload, dict.fromkeys(TASKS, RIGHT), "scorer=exact")
    with pytest.raises(ResultsError, match="nothing to compare") as caught:
        compared(before, after)
    assert [problem.where for problem in caught.value.problems] == ["baseline", "candidate"]


def test_a_thousand_tasks_are_resampled_in_a_second() -> None:
    """10,000 sign patterns of 1,000 differences, interval and p, take at most a second of this process."""
    drawn = np.random.default_rng(0).normal(size=1000)
    rows = pl.LazyFrame({"pair": [0] * 1000, "difference": drawn})
    metrics = pair_statistics(pl.col("difference"))
    began = time.process_time()
    found = summarise(rows, by=("pair",), metrics=metrics).with_columns(
        one.expr.alias(one.name) for one in sign_flip_test(pl.lit(1000), pl.lit(1000), seed=0)
    )
    row = found.collect().row(0, named=True)
    assert row["p_method"] == "sign flips, 10,000 seeded draws"
    assert time.process_time() - began < 1
