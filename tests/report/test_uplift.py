from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from arm_frames import ASSERTION, CASE, KEYS, REMARK, SPEND, UPLIFT, WITH, arm_frames, arm_report
from reports import CALCULATOR, report_of

from skilleval.report.document import State, from_json, to_json
from skilleval.report.json_writer import render
from skilleval.report.uplift import arm_parts, uplift_summary

FIGURES = "+0.42 [+0.21, +0.63] (12 cases, 3 repeats), p = 0.002"
PRICE = "for +1\u202f930 tokens, +1.8\u202fs and +$0.0031 a case"


def sentence(**changes: Any) -> str:
    """Give the sentence of one comparison."""
    return arm_parts(arm_frames(uplift=[UPLIFT | changes])).uplift[0].sentence


def caveats(remark: Mapping[str, Any] | None = None, **changes: Any) -> tuple[str, ...]:
    """Give what limits one comparison."""
    remarks = [] if remark is None else [REMARK | dict(remark)]
    return arm_parts(arm_frames(uplift=[UPLIFT | changes], remarks=remarks)).uplift[0].caveats


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        ("helps", "csv-totals adds "),
        ("harms", "csv-totals harms: "),
        ("no_uplift", "csv-totals has no uplift: "),
        ("inconclusive", "csv-totals is inconclusive: "),
    ],
)
def test_each_finding_is_called_by_its_name(finding: str, said: str) -> None:
    """A sentence names the skill, the finding and all figures, the cost included."""
    assert sentence(finding=finding) == f"{said}{FIGURES}, {PRICE}"


def test_an_observed_loss_that_proves_nothing_is_no_uplift_so_far() -> None:
    """Inconclusive with nothing gained says that nothing was gained."""
    lost = {"finding": "inconclusive", "uplift": -0.1, "uplift_low": -0.3, "uplift_high": 0.1}
    said = sentence(**lost)
    assert said.startswith("csv-totals shows no uplift, but inconclusively: −0.1 [−0.3, +0.1] (12 cases")


def test_costs_that_are_not_known_are_left_out() -> None:
    """A price that nobody knows is no price of 0; what is saved has a minus."""
    assert sentence(usd_difference=None, seconds_difference=None).endswith("for +1\u202f930 tokens a case")
    assert sentence(usd_difference=-0.5).endswith("and −$0.50 a case")
    nothing = {"usd_difference": None, "seconds_difference": None, "tokens_difference": None}
    assert sentence(**nothing) == f"csv-totals adds {FIGURES}"


def test_without_an_interval_none_is_written() -> None:
    """A difference that has no interval stands alone; a p beyond display is a bound."""
    bare = sentence(uplift=1.0, uplift_low=None, uplift_high=None, p_value=0.0001)
    assert bare.startswith("csv-totals adds +1 (12 cases, 3 repeats), p < 0.001")


def test_nothing_graded_is_said() -> None:
    """A comparison without a case has no figure."""
    said = sentence(finding="ungraded", uplift=None, n_cases=0)
    assert said == "csv-totals could not be compared: no case was graded in both arms"


def test_the_old_edition_is_named() -> None:
    """Against the old edition the sentence says so."""
    assert "+0.63] over its old edition (12 cases" in sentence(baseline="old_skill")


def test_a_sound_comparison_has_no_caveat() -> None:
    """Nothing is said where nothing limits."""
    assert caveats() == ()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"n_repeats": 1}, "one repeat: what the same case would give another time is not known"),
        (
            {"n_left_out": 3, "n_left_out_errors": 2, "n_left_out_ungraded": 1},
            "3 cases left out (2 errors, 1 ungraded)",
        ),
        (
            {"n_errors_candidate": 2},
            "trials lost to infrastructure errors: 2 with the skill, 0 in the baseline",
        ),
        (
            {"n_broken_baseline": 1},
            "trials timed out or broke and score 0: 0 with the skill, 1 in the baseline",
        ),
        (
            {"score_baseline": 1.0},
            "the baseline has the full score on all 12 cases: they cannot show an uplift",
        ),
        (
            {"finding": "inconclusive", "n_wins": 4},
            "only 4 cases moved: fewer than 6 cannot tell an uplift from chance",
        ),
        (
            {"n_always_pass": 10},
            "10 of 30 assertions always pass in both arms; without them the uplift is +0.5",
        ),
    ],
)
def test_what_limits_a_comparison_is_told(changes: dict[str, Any], told: str) -> None:
    """Each limit is one sentence with its count."""
    assert caveats(**changes) == (told,)


@pytest.mark.parametrize(
    ("remark", "told"),
    [
        ({"is_self_judged": True}, "the model judged its own answers: it is no impartial judge"),
        ({"n_judge_errors": 1}, "1 trial has checks that the judge could not judge"),
        ({"n_evidence_not_found": 2}, "2 verdicts quote evidence that is not in the output"),
    ],
)
def test_what_limits_the_judge_is_told(remark: dict[str, Any], told: str) -> None:
    """A judge that is partial, out of order or makes things up limits what follows from it."""
    assert caveats(remark) == (told,)


def test_names_tell_models_apart() -> None:
    """Two models of one skill have two names, and cases and assertions stand under the same ones."""
    other = {"model": "large"}
    frames = arm_frames(uplift=[UPLIFT, UPLIFT | other], cases=[CASE | other], assertions=[ASSERTION | other])
    parts = arm_parts(frames)
    assert [one.name for one in parts.uplift] == ["csv-totals · small", "csv-totals · large"]
    assert (parts.cases[0].skill, parts.assertions[0].skill) == ("csv-totals · large", "csv-totals · large")


def test_flags_of_cases() -> None:
    """A case is flagged as flaky in its arm, and where both arms have all or nothing."""
    rows = [
        CASE,
        CASE | {"outcome": "same", "score_baseline": 1.0, "is_flaky_baseline": False},
        CASE | {"outcome": "same", "score_candidate": 0.0, "score_baseline": 0.0, "is_flaky_baseline": False},
    ]
    flags = [one.flags for one in arm_parts(arm_frames(uplift=[UPLIFT], cases=rows)).cases]
    assert flags == [("flaky in the baseline",), ("full score in both arms",), ("score 0 in both arms",)]


def test_many_comparisons_are_counted() -> None:
    """Up to three are told each; more are counted by what they show."""
    rows = [UPLIFT | {"skill_id": f"s{i}"} for i in range(3)]
    few = arm_parts(arm_frames(uplift=rows)).uplift
    assert uplift_summary(few).count("adds") == 3
    many = arm_parts(arm_frames(uplift=[*rows, UPLIFT | {"skill_id": "x", "finding": "no_uplift"}])).uplift
    assert uplift_summary(many) == "Of 4 comparisons 3 help, 1 have no uplift"


def test_the_verdict_says_first_what_the_skills_add() -> None:
    """The headline answers the question; the completion that follows is that of the skill."""
    verdict = arm_report().verdict
    assert verdict.sentence.startswith(f"csv-totals adds {FIGURES}, {PRICE}. ")
    assert "without_skill" not in verdict.sentence


def test_a_baseline_that_fails_does_not_fail_the_gate() -> None:
    """That the model fails without the skill is what one hopes for: the gate asks of the skill alone."""
    gate = {"min_completion": 0.7}
    assert arm_report(gate=gate).verdict.state is State.PASSED
    assert arm_report(gate=gate, uplift=[]).verdict.state is State.FAILED


def test_judge_errors_are_a_column_of_the_summary_where_there_are_any() -> None:
    """They are counted beside the rates; a run without a judge does not know the column."""
    keys = ("benchmark_id", "benchmark_version", "condition_id", "skill_id", "skill_version", "skill_digest")
    shared = {key: WITH[key] for key in (*keys, "adapter", "model", "sandbox", "mode", "scorer")}
    report = arm_report(errors=[shared | {"n_judge_errors": 2}])
    assert {row["mode"]: row["n_judge_errors"] for row in report.summary} == {
        "with_skill": 2,
        "without_skill": 0,
    }
    assert "n_judge_errors" in [column.key for column in report.columns]
    assert "n_judge_errors" not in [column.key for column in arm_report().columns]
    assert "n_judge_errors" not in report_of(CALCULATOR).summary[0]


def test_a_report_with_arms_is_read_back_as_it_was() -> None:
    """Every new part survives the JSON report, and a report without arms lacks their keys."""
    report = arm_report()
    assert report.judge_spend[0].n_calls == SPEND["n_calls"]
    assert from_json(render(report)) == report
    bare = to_json(report_of(CALCULATOR))
    assert not {"uplift", "uplift_cases", "assertions", "judge_spend"} & bare.keys()


def test_an_old_report_reads_without_arms() -> None:
    """The keys are optional, so that reports of earlier versions still read."""
    report = from_json(render(report_of(CALCULATOR)))
    assert (report.uplift, report.assertions) == ((), ())


def test_keys_are_those_of_a_pair() -> None:
    """A remark finds its comparison by what both arms share, also where no model is known."""
    unknown = {"model": None}
    frames = arm_frames(uplift=[UPLIFT | unknown], remarks=[REMARK | KEYS | unknown | {"n_judge_errors": 3}])
    assert "3 trials have checks that the judge could not judge" in arm_parts(frames).uplift[0].caveats
