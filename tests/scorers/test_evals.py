"""A case of an instruction skill is judged by every scorer that it needs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from samples import task, trials
from scripted_judges import OPTIONS, ScriptedJudge, asserting, results, verdict

from skilleval.domain.attempts import Reply, Status
from skilleval.domain.scores import Verdict
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions
from skilleval.scorers.base import Finding
from skilleval.scorers.evals import EvalsScorer
from skilleval.scorers.files import FilesOptions, FilesScorer
from skilleval.scorers.llm_judge import Judges, LlmJudgeScorer
from skilleval.scorers.panel import Panel
from skilleval.scorers.script import ScriptOptions, ScriptScorer
from skilleval.scorers.tool_calls import ToolCallsOptions, ToolCallsScorer

ASSERTION = {"id": "a1", "text": "Names the port"}
TOOL = {"id": "t1", "type": "tool-called", "name": "get_tide"}
FILE = {"id": "f1", "path": "outputs/response.txt", "contains": "Lisbon"}
CALLS = ({"id": "1", "name": "get_tide", "arguments": "{}"},)


def scorer(judge: ScriptedJudge) -> EvalsScorer:
    """Give the scorer with its four parts."""
    return EvalsScorer(
        llm_judge=LlmJudgeScorer(OPTIONS, Judges(first=judge)),
        tool_calls=ToolCallsScorer(ToolCallsOptions(timeout_ms=1000.0)),
        script=ScriptScorer(
            ScriptOptions(command=(), timeout_ms=10_000, pass_at=1.0),
            NoSandbox(NoSandboxOptions(pass_env=())),
        ),
        files=FilesScorer(FilesOptions(max_file_bytes=1000, timeout_ms=1000.0)),
    )


def found(
    expected: dict[str, Any], folder: Path = Path(), judge: ScriptedJudge | None = None
) -> tuple[Finding, ...]:
    """Judge an attempt by what its case expects."""
    judge = judge or ScriptedJudge(results(verdict("a1")))
    seen = asserting(expected=expected, tool_calls=CALLS, folder=folder)
    return asyncio.run(scorer(judge).findings(seen))


def test_every_part_is_judged_by_its_own_kind(tmp_path: Path) -> None:
    """Assertions, tools, script and files give their findings, each marked with the kind that judged."""
    (tmp_path / "check.py").write_text("")
    expected = {
        "assertions": [ASSERTION],
        "tool_assertions": [TOOL],
        "script": "check.py",
        "file_checks": [FILE],
    }
    findings = found(expected, tmp_path)
    assert [(one.rule, one.check_id, one.verdict) for one in findings] == [
        ("llm_judge", "a1", Verdict.PASSED),
        ("tool_calls", "t1", Verdict.PASSED),
        ("script", "script", Verdict.PASSED),
        ("files", "f1", Verdict.PASSED),
    ]
    assert len(findings[0].judgements) == 1


def test_only_what_is_asked_for_is_judged() -> None:
    """A case with tool assertions alone costs no call of a judge."""
    judge = ScriptedJudge("never")
    assert [one.rule for one in found({"tool_assertions": [TOOL]}, judge=judge)] == ["tool_calls"]
    assert judge.asked == []


def test_ids_of_checks_are_distinct() -> None:
    """Where two kinds use one id, the later one has its kind before it."""
    expected = {
        "assertions": [ASSERTION],
        "tool_assertions": [TOOL | {"id": "a1"}, TOOL | {"id": "a1"}],
        "file_checks": [FILE | {"id": "a1"}],
    }
    assert [one.check_id for one in found(expected)] == ["a1", "tool_calls:a1", "tool_calls:a1:2", "files:a1"]


def test_c11_a_case_that_asks_for_nothing_is_ungraded() -> None:
    """Nothing passes because nothing was asked, whatever else the case says."""
    cases: list[dict[str, Any]] = [{}, {"assertions": [], "tool_assertions": []}, {"note": "x"}]
    for expected in cases:
        (one,) = found(expected)
        assert (one.verdict, one.score) == (Verdict.UNGRADED, None)
        assert one.reason.startswith("nothing to check")


def test_c60_a_failed_attempt_is_never_shown_to_a_judge() -> None:
    """After an outage of the subject's provider nothing is judged, and no judge is asked."""
    judge = ScriptedJudge(results(verdict("a1")))
    (trial,) = trials(replace(task(), expected={"assertions": [ASSERTION], "tool_assertions": [TOOL]}))
    reply = Reply(status=Status.PROVIDER_ERROR, failure_kind="http_503", message="HTTP 503")
    (score,) = asyncio.run(Panel({"evals": scorer(judge)}).hearing(trial, reply).scores())
    assert (score.verdict, score.score) == (Verdict.UNGRADED, None)
    assert judge.asked == []


def test_c59_a_no_op_attempt_is_judged_like_any_other() -> None:
    """An empty answer is shown to the judge and fails what the skill is to show."""
    judge = ScriptedJudge(results(verdict("a1", passed=False, evidence="")))
    (trial,) = trials(replace(task(), expected={"assertions": [ASSERTION], "tool_assertions": [TOOL]}))
    reply = Reply(status=Status.COMPLETED, output='""', tool_calls="[]")
    scores = asyncio.run(Panel({"evals": scorer(judge)}).hearing(trial, reply).scores())
    assert [score.verdict for score in scores] == [Verdict.FAILED, Verdict.FAILED]
    assert len(judge.asked) == 1


def test_scores_of_one_judge_are_never_taken_for_those_of_another() -> None:
    """The name of the judge is part of the score key; the same judge has the same."""
    (trial,) = trials(replace(task(), expected={"assertions": [ASSERTION]}))
    reply = Reply(status=Status.COMPLETED, output='"Lisbon"')
    keys = []
    for model in ("m1", "m1", "m2"):
        judge = ScriptedJudge(results(verdict("a1")), model=model)
        (score,) = asyncio.run(Panel({"evals": scorer(judge)}).hearing(trial, reply).scores())
        keys.append(score.score_key)
    assert keys[0] == keys[1] != keys[2]


def test_the_script_of_a_case_is_part_of_its_key(tmp_path: Path) -> None:
    """What cannot be known of a script keeps the scores of its case from being reused, and of no other case."""
    made = scorer(ScriptedJudge(""))
    seen = asserting(expected={"assertions": [ASSERTION], "script": "check.py"}, folder=tmp_path)
    assert made.fingerprint(seen) is None
    (tmp_path / "check.py").write_text("1")
    first = made.fingerprint(seen)
    (tmp_path / "check.py").write_text("2")
    assert first not in {None, made.fingerprint(seen)}
    assert made.fingerprint(asserting("A")) is not None
