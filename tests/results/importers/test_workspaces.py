"""Workspaces of agent-skills-eval, of skill-creator and of the guide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from results.importers.foreign import agent_skills_eval, attempt, grading, write

from skilleval.domain.attempts import Status
from skilleval.domain.scores import Verdict
from skilleval.domain.trials import Mode
from skilleval.errors import ResultsError
from skilleval.results.importers.agent_skills_eval import AGENT_SKILLS_EVAL
from skilleval.results.importers.base import ImportedTrial, ImportOptions
from skilleval.results.importers.skill_creator import SKILL_CREATOR

PLAIN = ImportOptions()


def rates(trials: tuple[ImportedTrial, ...], mode: Mode) -> list[float]:
    """Give the share of passed assertions of each case of an arm."""
    of_mode = [trial.checks for trial in trials if trial.mode is mode]
    return [sum(check.verdict is Verdict.PASSED for check in checks) / len(checks) for checks in of_mode]


def test_the_newest_iteration_counts_with_both_arms(tmp_path: Path) -> None:
    """10 is newer than 9; each case has an arm with and one without the skill."""
    agent_skills_eval(tmp_path / "iteration-9", name="old")
    agent_skills_eval(tmp_path / "iteration-10")
    assert AGENT_SKILLS_EVAL.recognises(tmp_path)
    (run,) = AGENT_SKILLS_EVAL.read(tmp_path, PLAIN)
    assert {trial.skill_id for trial in run.trials} == {"tide"}
    assert rates(run.trials, Mode.WITH_SKILL) == [1.0, 0.5, 1.0]
    assert rates(run.trials, Mode.WITHOUT_SKILL) == [0.0, 0.5, 0.5]
    first = run.trials[0]
    assert (first.task_id, first.model, first.adapter) == ("tide/a", "model-t", "chat")
    assert (first.latency_ms, first.usage.total_tokens, first.output) == (1500.0, 50, '"answer a"')
    assert first.input == {"prompt": "question a"}
    assert run.published == {"tide": {"run_summary": {"delta": {"pass_rate": 0.5}}}}


def test_flat_layouts_and_several_skills_are_read(tmp_path: Path) -> None:
    """A folder a skill, without any iteration, is the other layout of that tool."""
    agent_skills_eval(tmp_path / "tide")
    agent_skills_eval(tmp_path / "sums", name="sums")
    (run,) = AGENT_SKILLS_EVAL.read(tmp_path, PLAIN)
    assert {trial.skill_id for trial in run.trials} == {"tide", "sums"}
    assert len(run.trials) == 12


def test_ae_11_two_skills_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    """What shares a name does not share its results."""
    agent_skills_eval(tmp_path / "one", path="a/tide")
    agent_skills_eval(tmp_path / "two", path="b/tide")
    (run,) = AGENT_SKILLS_EVAL.read(tmp_path, PLAIN)
    assert {trial.skill_id for trial in run.trials} == {"a/tide", "b/tide"}


def test_ae_02_a_failed_call_is_an_error_of_the_provider(tmp_path: Path) -> None:
    """The graded text of an error is no answer: its checks are kept, and the trial counts for nobody."""
    agent_skills_eval(tmp_path)
    folder = tmp_path / "eval-a" / "with_skill"
    attempt(folder, grading(True), {"total_tokens": 0, "duration_ms": 1509}, "ERROR: HTTP 500")
    (run,) = AGENT_SKILLS_EVAL.read(tmp_path, PLAIN)
    trial = run.trials[0]
    assert (trial.status, trial.output, trial.latency_ms) == (Status.PROVIDER_ERROR, None, None)
    assert trial.message == "ERROR: HTTP 500"
    assert trial.usage.total_tokens is None
    assert len(trial.checks) == 1
    assert any("1 calls failed" in remark for remark in run.remarks)


def test_an_answer_about_errors_is_an_answer(tmp_path: Path) -> None:
    """A text that begins like an error and took tokens was written by the model."""
    agent_skills_eval(tmp_path)
    timing = {"total_tokens": 40, "duration_ms": 9}
    attempt(tmp_path / "eval-a" / "with_skill", grading(True), timing, "ERROR: is a level of logs")
    (run,) = AGENT_SKILLS_EVAL.read(tmp_path, PLAIN)
    assert run.trials[0].status is Status.COMPLETED


def test_ae_06_a_case_without_assertions_is_ungraded(tmp_path: Path) -> None:
    """Their pass rate of 1 for nothing checked is no verdict."""
    agent_skills_eval(tmp_path)
    attempt(tmp_path / "eval-a" / "with_skill", grading())
    (run,) = AGENT_SKILLS_EVAL.read(tmp_path, PLAIN)
    assert run.trials[0].checks == ()


def test_tool_calls_are_kept_as_they_were_made(tmp_path: Path) -> None:
    """Arguments stay the text that the model wrote."""
    agent_skills_eval(tmp_path)
    calls = [{"id": "1", "type": "function", "function": {"name": "sum", "arguments": '{"a":'}}]
    write(tmp_path / "eval-a" / "with_skill" / "tool_calls.json", calls)
    (run,) = AGENT_SKILLS_EVAL.read(tmp_path, PLAIN)
    assert json.loads(run.trials[0].tool_calls or "") == [{"id": "1", "name": "sum", "arguments": '{"a":'}]
    assert run.trials[1].tool_calls is None


@pytest.mark.parametrize("layout", ["{arm}", "{arm}/run-1", "{arm}/runs/run-1"])
@pytest.mark.parametrize("spelling", ["assertion_results", "expectations"])
def test_sc_01_each_layout_and_spelling_is_read(tmp_path: Path, layout: str, spelling: str) -> None:
    """With or without folders of runs, and whatever the assertions are called, the same is found."""
    for arm in ("with_skill", "without_skill"):
        folder = tmp_path / "csv-workspace" / "iteration-1" / "no-prefix" / layout.format(arm=arm)
        attempt(folder, grading(arm == "with_skill", True, spelling=spelling))
    assert SKILL_CREATOR.recognises(tmp_path / "csv-workspace")
    (run,) = SKILL_CREATOR.read(tmp_path / "csv-workspace", PLAIN)
    assert [(trial.task_id, trial.skill_id, trial.repeat) for trial in run.trials] == [
        ("csv/no-prefix", "csv", 0)
    ] * 2
    assert rates(run.trials, Mode.WITH_SKILL) == [1.0]
    assert rates(run.trials, Mode.WITHOUT_SKILL) == [0.5]


def test_sc_01_an_empty_workspace_is_an_error(tmp_path: Path) -> None:
    """No attempt at all is never a result of 0."""
    root = tmp_path / "csv-workspace"
    (root / "iteration-1" / "eval-0" / "with_skill").mkdir(parents=True)
    with pytest.raises(ResultsError, match="found no attempt"):
        SKILL_CREATOR.read(root, PLAIN)


def test_sc_02_the_empty_aggregate_beside_the_attempts_is_not_believed(tmp_path: Path) -> None:
    """Rows come from the attempts, and the file of theirs is left as it is."""
    root = tmp_path / "csv-workspace" / "iteration-1"
    attempt(root / "eval-0" / "with_skill", grading(True))
    empty = {"metadata": {"skill_name": "csv"}, "runs": [], "run_summary": {"delta": {"pass_rate": "+0.00"}}}
    path = write(root / "benchmark.json", empty)
    before = path.read_bytes()
    (run,) = SKILL_CREATOR.read(root, PLAIN)
    assert len(run.trials) == 1
    assert run.published == {"delta": {"pass_rate": "+0.00"}}
    assert path.read_bytes() == before


def test_sc_03_arms_go_by_their_role_and_not_by_their_order(tmp_path: Path) -> None:
    """`old_skill` is the baseline although its name comes first."""
    root = tmp_path / "csv-workspace"
    attempt(root / "eval-0" / "old_skill" / "run-1", grading(False))
    attempt(root / "eval-0" / "with_skill" / "run-1", grading(True))
    (run,) = SKILL_CREATOR.read(root, PLAIN)
    assert rates(run.trials, Mode.OLD_SKILL) == [0.0]
    assert rates(run.trials, Mode.WITH_SKILL) == [1.0]


def test_c45_an_arm_of_another_name_needs_a_role(tmp_path: Path) -> None:
    """Unknown configurations are refused with the option that names them, and read once they are named."""
    root = tmp_path / "csv-workspace"
    attempt(root / "eval-0" / "main" / "run-1", grading(False))
    attempt(root / "eval-0" / "with_skill" / "run-1", grading(True))
    with pytest.raises(ResultsError, match="--mode main=with_skill"):
        SKILL_CREATOR.read(root, PLAIN)
    (run,) = SKILL_CREATOR.read(root, ImportOptions(modes={"main": Mode.OLD_SKILL}))
    assert rates(run.trials, Mode.OLD_SKILL) == [0.0]


@pytest.mark.parametrize(
    ("timing", "graded", "latency"),
    [
        ({"duration_ms": 8400, "total_tokens": 5120}, {}, 8400.0),
        ({"total_duration_seconds": 8.4}, {}, 8400.0),
        ({"executor_duration_seconds": 8.4, "total_duration_seconds": 11.0}, {}, 8400.0),
        (None, {"executor_duration_seconds": 2.5, "grader_duration_seconds": 9.0}, 2500.0),
        (None, {}, None),
    ],
)
def test_sc_04_times_are_read_in_every_spelling_and_unit(
    tmp_path: Path, timing: dict[str, float] | None, graded: dict[str, float], latency: float | None
) -> None:
    """Milliseconds and seconds come out as milliseconds, of the executor alone; unknown ones stay unknown."""
    root = tmp_path / "csv-workspace"
    attempt(root / "eval-0" / "with_skill", {**grading(True), "timing": graded}, timing)
    (run,) = SKILL_CREATOR.read(root, PLAIN)
    assert run.trials[0].latency_ms == latency
    assert run.trials[0].usage.total_tokens == (5120 if timing and "total_tokens" in timing else None)


def test_runs_keep_their_numbers(tmp_path: Path) -> None:
    """Run 3 is repeat 2 also where run 2 is lost, so that arms stay paired; the number of runs is counted."""
    root = tmp_path / "csv-workspace"
    for number in (1, 3, 10):
        attempt(root / "eval-0" / "with_skill" / f"run-{number}", grading(True))
    (run,) = SKILL_CREATOR.read(root, PLAIN)
    assert [trial.repeat for trial in run.trials] == [0, 2, 9]


def test_what_the_case_says_of_itself_is_kept(tmp_path: Path) -> None:
    """Id, prompt and assertions come from its metadata; model and time from the aggregate."""
    root = tmp_path / "iteration-2"
    attempt(root / "eval-sums" / "with_skill" / "run-1", grading(True, None))
    write(root / "eval-sums" / "eval_metadata.json", {"eval_id": 7, "prompt": "p", "assertions": ["a"]})
    about = {"skill_name": "csv", "executor_model": "model-e", "timestamp": "2026-01-02T03:04:05"}
    write(root / "benchmark.json", {"metadata": about, "run_summary": {}})
    (run,) = SKILL_CREATOR.read(root, PLAIN)
    (trial,) = run.trials
    assert (trial.task_id, trial.model, trial.adapter) == ("csv/7", "model-e", "agent")
    assert (trial.input, trial.expected) == ({"prompt": "p"}, {"assertions": ["a"]})
    assert [check.verdict for check in trial.checks] == [Verdict.PASSED, Verdict.UNGRADED]
    assert any("times name no offset" in remark for remark in run.remarks)


def test_a_skill_that_nothing_names_has_to_be_named(tmp_path: Path) -> None:
    """The name of a folder is not guessed to be that of a skill."""
    attempt(tmp_path / "eval-0" / "with_skill", grading(True))
    with pytest.raises(ResultsError, match="--skill NAME"):
        SKILL_CREATOR.read(tmp_path, PLAIN)
    (run,) = SKILL_CREATOR.read(tmp_path, ImportOptions(skill="mine"))
    assert run.trials[0].skill_id == "mine"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"summary": {}}, "expected a list assertion_results or expectations, found summary"),
        ({"expectations": {"a": 1}}, "expectations: expected a list, found an object"),
        (
            {"expectations": [{"passed": True}]},
            r"expectations\[0\]\.text: expected a value, found no such key",
        ),
        (
            {"expectations": [{"text": "t", "passed": "true"}]},
            r"expectations\[0\]\.passed: expected true or false, found 'true'",
        ),
    ],
)
def test_a_damaged_grading_is_told_with_its_place(tmp_path: Path, value: object, said: str) -> None:
    """The file of the attempt and the key are named; nothing is guessed."""
    root = tmp_path / "csv-workspace"
    folder = root / "eval-0" / "with_skill"
    folder.mkdir(parents=True)
    write(folder / "grading.json", value)
    with pytest.raises(ResultsError, match=rf"with_skill/grading\.json: .*{said}|grading\.json: {said}"):
        SKILL_CREATOR.read(root, PLAIN)


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A link inside a workspace leads to no attempt outside of it."""
    agent_skills_eval(tmp_path / "elsewhere")
    root = tmp_path / "csv-workspace"
    attempt(root / "eval-0" / "with_skill", grading(True))
    (root / "eval-1").symlink_to(tmp_path / "elsewhere" / "eval-a")
    (run,) = SKILL_CREATOR.read(root, PLAIN)
    assert len(run.trials) == 1
