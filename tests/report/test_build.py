from __future__ import annotations

import json
import math
from pathlib import Path

from reports import (
    CALCULATOR,
    FLAKY,
    MANIFEST,
    WRONG,
    cell,
    demo_report,
    failure,
    report_of,
    summary_frame,
)

from skilleval.report.build import MAX_EXCERPT, MAX_FAILURES_PER_SKILL, build_report
from skilleval.report.document import State, to_json
from skilleval.report.excerpt import Excerpt

GOLDEN = Path(__file__).parent.parent / "golden" / "report" / "report.json"


def test_the_demo_report_is_the_golden_one() -> None:
    """The document of known frames is known."""
    document = to_json(demo_report())
    assert json.loads(json.dumps(document)) == json.loads(GOLDEN.read_text("utf-8"))


def test_the_best_skill_comes_first_and_the_unknown_last() -> None:
    """Rows are ordered by completion, then partial score, then name; the order of the frame is irrelevant."""
    twin = WRONG | {"skill_id": "also-wrong", "partial_score": 0.4}
    lost = {"skill_id": "a-lost-one"}
    expected = ["calculator", "flaky-calculator", "also-wrong", "wrong-calculator", "a-lost-one"]
    for rows in ([lost, WRONG, twin, FLAKY, CALCULATOR], [CALCULATOR, twin, FLAKY, WRONG, lost]):
        assert [row["skill_id"] for row in report_of(*rows).summary] == expected


def test_nan_becomes_not_known() -> None:
    """A NaN or infinity in a frame never reaches the document."""
    report = report_of(CALCULATOR | {"composite": math.nan, "p95_ms": math.inf})
    assert report.summary[0]["composite"] is None
    assert report.summary[0]["p95_ms"] is None


def test_long_texts_are_cut_and_keep_their_length() -> None:
    """An excerpt says how long the whole text is; an empty text is not an absent one."""
    rows = [failure(WRONG, "t", output="x" * 5000, stderr="", expected=None)]
    (trial,) = report_of(WRONG, failures=rows).failures
    assert trial.output == Excerpt(text="x" * MAX_EXCERPT, length=5000)
    assert trial.stderr == Excerpt(text="", length=0)
    assert trial.expected is None


def test_each_skill_keeps_some_failures_and_each_task_its_first() -> None:
    """Many failures of one skill hide neither another skill nor a task; the rest is counted."""
    tasks = [f"t{i:02d}" for i in range(50)]
    rows = [failure(WRONG, task, repeat) for task in tasks for repeat in range(3)]
    rows.append(failure(FLAKY, "t00", 1))
    report = report_of(FLAKY, WRONG, failures=rows)
    wrong = [trial for trial in report.failures if trial.skill_id == "wrong-calculator"]
    assert len(wrong) == MAX_FAILURES_PER_SKILL
    assert {trial.task_id for trial in wrong} == set(tasks)
    assert len(report.failures) == MAX_FAILURES_PER_SKILL + 1
    assert report.n_failures == 151


def test_a_run_without_rows_gives_a_report() -> None:
    """Nothing evaluated is a report too, with a verdict."""
    report = report_of(manifest={})
    assert report.verdict.state is State.INCONCLUSIVE
    assert report.title == "Skill evaluation"
    assert report.run.n_tasks is None


def test_counts_come_from_the_rows_where_the_manifest_has_none() -> None:
    """An incomplete manifest costs nothing that the rows know."""
    run = report_of(CALCULATOR, manifest={"run_id": "r"}).run
    assert (run.run_id, run.n_tasks, run.n_repeats, run.benchmark_id) == ("r", 20, 3, "")


def test_no_gate_is_no_threshold() -> None:
    """A gate without a minimum leaves the report without a verdict of pass or fail."""
    report = report_of(CALCULATOR, gate={})
    assert report.threshold is None
    assert report.verdict.state is State.INFO


def test_the_interval_is_named_with_its_method_and_each_column_explained() -> None:
    """Every shown metric and every method of an interval stands under methods."""
    methods = report_of(CALCULATOR).provenance.methods
    assert methods[0].text == CALCULATOR["ci_method"]
    assert [method.name for method in methods[1:]] == [
        "completion",
        "partial score",
        "errors",
        "consistency",
        "p50",
        "p95",
        "composite",
    ]


def test_frames_with_more_columns_are_welcome() -> None:
    """Columns a report does not know are kept in the summary and do no harm."""
    frame = summary_frame(CALCULATOR)
    more = frame.with_columns(extra=frame["n_tasks"])
    report = build_report(
        manifest=MANIFEST, summary=more, matrix=frame.clear(), failures=frame.clear(), gate={}
    )
    assert report.summary[0]["extra"] == 20


def test_the_matrix_is_kept_as_it_is() -> None:
    """One cell a task and condition, an ungraded rate stays null."""
    ungraded = cell(CALCULATOR, "t", 0) | {"n_graded": 0, "rate": None, "is_flaky": None}
    (found,) = report_of(CALCULATOR, matrix=[ungraded]).matrix
    assert (found.task_id, found.n, found.n_graded, found.rate, found.is_flaky) == ("t", 3, 0, None, False)
