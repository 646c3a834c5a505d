"""Rubric results as evos-skills publishes them."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from results.importers.foreign import EVOS, write

from skilleval.domain.attempts import Status
from skilleval.domain.scores import Verdict
from skilleval.domain.trials import Mode
from skilleval.errors import ResultsError
from skilleval.results.importers.base import ImportOptions
from skilleval.results.importers.rubrics import RUBRICS

PLAIN = ImportOptions()


def test_criteria_are_optional_checks_below_one_mark(tmp_path: Path) -> None:
    """A scenario passes by its weighted score of 0.7, not by each criterion; the mark itself weighs nothing."""
    path = write(tmp_path / "invoice.with_skill.json", EVOS)
    (run,) = RUBRICS.read(path, PLAIN)
    first, second = run.trials
    assert [(c.check_id, c.weight, c.score, c.required) for c in first.checks] == [
        ("names_line", 0.6, 1.0, False),
        ("gives_total", 0.4, 0.5, False),
        ("pass_mark", 0.0, 1.0, True),
    ]
    assert first.checks[0].reason == "pass: says 3"
    assert second.checks[-1].verdict is Verdict.FAILED
    assert first.task_tags == ("difficulty:easy", "category:sums")
    assert (first.skill_id, first.skill_version, first.model) == ("invoice-check", "1.0.0", "model-m")


def test_a_score_of_exactly_the_mark_passes_in_any_order_of_summation(tmp_path: Path) -> None:
    """0.7 made of parts is 0.7."""
    value = copy.deepcopy(EVOS)
    value["scenario_results"][0]["criteria_results"] = [
        {"criterion": name, "weight": weight, "rating": "pass" if score else "fail", "score": score}
        for name, weight, score in (("a", 0.1, 1.0), ("b", 0.2, 1.0), ("c", 0.4, 1.0), ("d", 0.3, 0.0))
    ]
    (run,) = RUBRICS.read(write(tmp_path / "x.with_skill.json", value), PLAIN)
    assert run.trials[0].checks[-1].verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("eval_results.json", Mode.WITH_SKILL),
        ("baseline_results.json", Mode.WITHOUT_SKILL),
        ("x.without_skill.json", Mode.WITHOUT_SKILL),
    ],
)
def test_the_arm_is_in_the_name_of_the_file(tmp_path: Path, name: str, mode: Mode) -> None:
    """The record does not say it."""
    (run,) = RUBRICS.read(write(tmp_path / name, EVOS), PLAIN)
    assert {trial.mode for trial in run.trials} == {mode}


def test_a_name_without_an_arm_needs_one(tmp_path: Path) -> None:
    """It is asked for, not guessed."""
    path = write(tmp_path / "mine.json", EVOS)
    with pytest.raises(ResultsError, match="--mode mine=with_skill"):
        RUBRICS.read(path, PLAIN)
    (run,) = RUBRICS.read(path, ImportOptions(modes={"mine": Mode.OLD_SKILL}))
    assert run.trials[0].mode is Mode.OLD_SKILL


def test_an_error_is_nobodys_failure(tmp_path: Path) -> None:
    """A scenario whose call failed has no verdict, although that tool scores it 0."""
    value = copy.deepcopy(EVOS)
    value["scenario_results"][0] |= {"error": "HTTP 529", "criteria_results": [], "agent_response": None}
    (run,) = RUBRICS.read(write(tmp_path / "x.with_skill.json", value), PLAIN)
    trial = run.trials[0]
    assert (trial.status, trial.message, trial.checks) == (Status.PROVIDER_ERROR, "HTTP 529", ())


def test_a_folder_is_one_run_of_all_its_files(tmp_path: Path) -> None:
    """Both arms stand side by side; other files are passed over."""
    write(tmp_path / "a" / "eval_results.json", EVOS)
    write(tmp_path / "a" / "baseline_results.json", EVOS)
    write(tmp_path / "other.json", {"unrelated": True})
    assert RUBRICS.recognises(tmp_path)
    (run,) = RUBRICS.read(tmp_path, PLAIN)
    assert sorted(trial.mode for trial in run.trials) == ["with_skill"] * 2 + ["without_skill"] * 2
    assert run.published == {
        name: {"overall": 0.4} for name in ("eval_results.json", "baseline_results.json")
    }


def test_an_unknown_rating_is_told(tmp_path: Path) -> None:
    """Pass, partial and fail are known; nothing else is read as one of them."""
    value = copy.deepcopy(EVOS)
    value["scenario_results"][0]["criteria_results"][0]["rating"] = "good"
    with pytest.raises(ResultsError, match=r"scenario_results\[0\]\.criteria_results\[0\]\.rating"):
        RUBRICS.read(write(tmp_path / "x.with_skill.json", value), PLAIN)
