"""The report of a sweep: its sentences, its tables, and every format of it."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from swept import METHOD, SWEEP_ID, sweep_report

from skilleval.report.sweep_phrases import (
    best_sentence,
    effect_sentence,
    missing_sentence,
    percent,
    ranking_sentences,
)
from skilleval.report.sweep_tables import sweep_tables
from skilleval.report.sweep_writers import SWEEP_WRITERS

EVIL = '<script>alert(1)</script>|`x`\\input{y}\u202e"=1'
EFFECT: dict[str, Any] = {
    "setting": "model",
    "level_before": "a",
    "level_after": EVIL,
    "metric": "completion_rate",
    "kind": "difference",
    "better": "higher",
    "n_cells": 2,
    "n_cells_before": 2,
    "n_cells_after": 2,
    "n_tasks": 40,
    "before": 0.5,
    "after": 0.62,
    "effect": 0.12,
    "low": 0.07,
    "high": 0.17,
    "p_holm": 0.001,
    "equivalence_p": 0.99,
    "n_more": None,
    "change": "improved",
}
SETTINGS = [
    {"name": "model", "levels": ["a", EVIL], "is_choice": True},
    {"name": "scorer", "levels": ["exact", "contains"], "is_choice": False},
]
LEVEL: dict[str, Any] = {
    "setting": "model",
    "level": EVIL,
    "mean": 0.62,
    "low": 0.5,
    "high": 0.7,
    "ci_method": "t",
    "n_tasks": 40,
    "n_cells": 2,
    "is_matched": True,
}
JOB: dict[str, Any] = {
    "job": 0,
    "key": "k",
    "setting.model": EVIL,
    "setting.scorer": "exact",
    "state": "done",
    "exit_code": 0,
    "counts": True,
    "reason": None,
    "verdict": EVIL,
    "run_id": "r",
    "duration_ms": 1500.0,
    "n_trials": 40,
    "n_reused": 0,
    "cost_usd": 0.5,
    "tokens": 100,
    "mean": 0.62,
    "n_tasks": 40,
}
LACKING = {
    **JOB,
    "job": 1,
    "setting.model": "a",
    "state": "failed",
    "counts": False,
    "reason": EVIL,
    "mean": 0.3,
}
RESULT: dict[str, Any] = {
    "job": 0,
    "setting.model": EVIL,
    "setting.scorer": "exact",
    "skill_id": EVIL,
    "scorer": "exact",
    "completion_rate": 0.62,
    "ci_low": 0.5,
    "ci_high": 0.7,
    "n_passed": 25,
    "n_graded": 40,
    "p50_ms": None,
    "cost_usd": None,
}
BEST: dict[str, Any] = {
    "setting.model": EVIL,
    "n_tasks": 40,
    "mean": 0.62,
    "p_best": 0.78,
    "rank_low": 1.0,
    "rank_high": 2.0,
    "behind_low": 0.0,
    "behind_high": 0.0,
    "is_best": True,
    "in_best_set": True,
}
CROSSED: dict[str, Any] = {
    "setting_a": "model",
    "level_a": EVIL,
    "setting_b": "scorer",
    "level_b": "exact",
    "mean": 0.6,
}
REPORT = sweep_report(
    settings=SETTINGS,
    jobs=[JOB, LACKING],
    results=[RESULT],
    levels=[LEVEL, {**LEVEL, "level": "a", "mean": 0.5}],
    effects=[EFFECT],
    best=[BEST, {**BEST, "setting.model": "a", "p_best": 0.22, "is_best": False, "in_best_set": False}],
    crossed=[CROSSED],
)


def test_the_verdict_says_what_each_setting_does_then_the_best_and_what_is_missing() -> None:
    """One sentence each, the difference with its interval."""
    effect, none, best, missing = REPORT.verdict.split("; ")[0], *REPORT.sentences[1:4]
    assert effect.startswith("completion depends on model: ")
    assert effect.endswith("+12 pp [+7, +17] against a")
    assert none.startswith("scorer: nothing to compare")
    assert best.startswith("best: model=")
    assert best.endswith("(78 % sure)")
    assert missing == "1 of 2 jobs has no result that counts (job 1 failed)"
    assert not REPORT.is_complete


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "completion depends on x: b +12 pp [+7, +17] against a"),
        (
            {"equivalence_p": 0.01},
            "completion depends on x, though by less than 5 pp: b +12 pp [+7, +17] against a",
        ),
        ({"change": "inconclusive"}, "x is undecided: b +12 pp [+7, +17] against a"),
        (
            {"change": "equivalent", "effect": 0.01},
            "x makes no difference within ±5 pp: b +1 pp [+7, +17] against a",
        ),
        (
            {"change": "unchanged", "effect": 0.0, "n_more": 9},
            "x changed nothing on 40 tasks (9 more tasks would rule out 5 pp)",
        ),
        (
            {"n_tasks": None},
            "x: nothing to compare, because no task was graded at two of its levels with all else equal",
        ),
    ],
)
def test_each_finding_has_its_sentence(changes: dict[str, Any], said: str) -> None:
    """What is shown, what is ruled out and what is open are never said alike."""
    assert effect_sentence("x", [{**EFFECT, "level_after": "b", **changes}], METHOD) == said


def test_of_several_differences_the_largest_is_told() -> None:
    """With how many of them are shown."""
    small = {**EFFECT, "level_after": "b", "effect": 0.02, "change": "inconclusive"}
    said = effect_sentence("x", [small, {**EFFECT, "level_after": "c"}], METHOD)
    assert said == "completion depends on x: c +12 pp [+7, +17] against a (1 of 2 differences shown)"


def test_the_best_is_not_called_best_where_nothing_is_told_from_it() -> None:
    """Where all are in the best set there is no best one; without shared tasks nothing is known."""
    level = {**BEST, "setting.model": "a", "p_best": 0.22, "is_best": False}
    first = {**BEST, "setting.model": "b"}
    assert best_sentence([first, level], ("model",)) == (
        "no best settings: none of the 2 combinations is told from model=b (first in 78 % of resamples)"
    )
    worse = {**level, "in_best_set": False}
    assert (
        best_sentence([first, level, worse], ("model",))
        == "best: model=b (78 % sure; 1 other not told from it)"
    )
    unknown = {**BEST, "mean": None, "p_best": None}
    assert "not known" in best_sentence([unknown, unknown], ("model",))
    assert best_sentence([], ()) == ""


@pytest.mark.parametrize(("share", "text"), [(0.0, "0 %"), (0.001, "1 %"), (0.999, "99 %"), (1.0, "100 %")])
def test_a_chance_is_never_rounded_to_certainty(share: float, text: str) -> None:
    """Zero and all are said only of zero and all."""
    assert percent(share) == text


def test_the_order_of_the_skills_is_told_by_setting() -> None:
    """Those that turn it one by one, the others together."""
    pair = {"level_a": "p", "level_b": "q", "n_skills": 3, "tau_reason": None}
    agreement = [
        {"setting": "x", "kendall_tau": 0.333, **pair},
        {"setting": "y", "kendall_tau": 1.0, **pair},
        {"setting": "z", "kendall_tau": None, **pair},
    ]
    flips = [{"setting": "x", "is_shown": False}]
    turned, same = ranking_sentences(["x", "y", "z"], agreement, flips)
    assert turned.startswith("the order of the skills depends on x: τ-b 0.33 between p and q; ")
    assert turned.endswith("1 pair of skills changes places, 0 beyond chance")
    assert same == "the order of the skills is the same at every level of y"


def test_nothing_is_missing_where_all_jobs_count() -> None:
    """Then there is no such sentence."""
    assert missing_sentence(REPORT.about, [JOB]) == ""


def test_tables_come_in_the_order_of_the_questions() -> None:
    """First what settings do, then which is best, then the jobs; those without rows are left out."""
    names = [table.name for table in sweep_tables(REPORT)]
    assert names == ["effects", "levels", "best", "lacking", "jobs", "results"]


def test_levels_that_share_nothing_are_counted_where_they_are_many() -> None:
    """A sweeper that never repeats a value leaves hundreds of pairs without figures: they are told in one number."""
    bare = {**EFFECT, "n_tasks": None, "n_cells": 0}
    (effects, *_) = sweep_tables(sweep_report(settings=SETTINGS, effects=[EFFECT, *[bare] * 21]))
    assert len(effects.rows) == 1
    assert "21 pairs of levels without a task in common are not listed" in effects.note


def test_the_jobs_add_up() -> None:
    """The last row of the jobs holds all of them."""
    (jobs,) = (table for table in sweep_tables(REPORT) if table.name == "jobs")
    total = dict(zip(jobs.header, jobs.rows[-1], strict=True))
    assert (total["job"], total["trials"], total["USD"], total["tokens"]) == ("all", "80", "1.00", "200")


@pytest.mark.parametrize("name", sorted(SWEEP_WRITERS))
def test_foreign_text_is_text_in_every_format(name: str) -> None:
    """What a level or a skill is called opens no tag, no table cell and no command."""
    text = SWEEP_WRITERS[name].render(REPORT)
    assert SWEEP_ID.partition("-")[0] in text or name == "csv"
    if name != "json":
        assert "\u202e" not in text or name == "csv"
    if name == "html":
        assert "<script>alert" not in text
        assert "connect-src" not in text
        assert "default-src &#39;none&#39;" in text
    if name == "latex":
        assert "\\input{y}" not in text
    if name == "markdown":
        assert "|`x`" not in text


def test_the_json_document_says_its_schema_and_holds_all_rows() -> None:
    """What was built is what is read."""
    document = json.loads(SWEEP_WRITERS["json"].render(REPORT))
    assert document["schema"] == "skilleval.sweep_report/1"
    assert document["effects"][0]["effect"] == EFFECT["effect"]
    assert document["verdict"] == REPORT.verdict


def test_the_csv_has_a_row_a_result_and_no_formula() -> None:
    """Settings are columns; a text that begins like a formula is made text."""
    report = sweep_report(settings=SETTINGS, results=[{**RESULT, "skill_id": "=1+1"}])
    header, row = csv.reader(io.StringIO(SWEEP_WRITERS["csv"].render(report)))
    assert header[:3] == ["job", "setting.model", "setting.scorer"]
    assert row[header.index("skill_id")] == "'=1+1"


def test_an_empty_sweep_is_still_a_page() -> None:
    """Without settings and rows the page says that there is nothing to compare, and needs no chart library."""
    page = SWEEP_WRITERS["html"].render(sweep_report())
    assert "there is nothing to compare" in page
    assert "vegaEmbed" not in page.partition("</main>")[2]
