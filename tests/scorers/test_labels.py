from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from samples import judged, record

from skilleval.domain.scores import Verdict
from skilleval.errors import ConfigError
from skilleval.scorers.labels import Label, LabelsOptions, LabelsScorer

OPTIONS = LabelsOptions(path="labels.csv", pass_at=0.5)
SEEN = replace(record("any answer"), trial_id="x")


def labelled(*said: tuple[str, bool, float], trial_id: str = "x") -> LabelsScorer:
    """Give a scorer with labels of one attempt: who, verdict, score."""
    labels = [
        Label(trial_id=trial_id, task_id="t1", rater=who, passed=passed, score=score)
        for who, passed, score in said
    ]
    return LabelsScorer(OPTIONS).holding(labels)


@pytest.mark.parametrize(("passed", "verdict"), [(True, Verdict.PASSED), (False, Verdict.FAILED)])
def test_one_label_is_the_verdict(passed: bool, verdict: Verdict) -> None:
    """A single person is no panel: there is one finding, with the score that was given."""
    (finding,) = judged(labelled(("", passed, 0.4)), SEEN)
    assert (finding.verdict, finding.score, finding.check_id) == (verdict, 0.4, "0")


def test_the_majority_decides_and_each_person_is_kept_beside_it() -> None:
    """What each person said is optional and weighs nothing, so that it changes neither verdict nor score."""
    majority, *people = judged(labelled(("ann", True, 1.0), ("bob", True, 0.5), ("cy", False, 0.0)), SEEN)
    assert (majority.verdict, majority.score, majority.reason) == (Verdict.PASSED, 0.5, "passed by 2 of 3")
    assert [one.check_id for one in people] == ["rater:ann", "rater:bob", "rater:cy"]
    assert [one.verdict for one in people] == [Verdict.PASSED, Verdict.PASSED, Verdict.FAILED]
    assert not any(one.required or one.weight for one in people)


def test_a_tie_is_ungraded() -> None:
    """Nobody's vote counts double."""
    first, *_ = judged(labelled(("ann", True, 1.0), ("bob", False, 0.0)), SEEN)
    assert (first.verdict, first.score, first.reason) == (
        Verdict.UNGRADED,
        None,
        "passed by 1 of 2: no majority",
    )


def test_an_attempt_that_nobody_labelled_is_ungraded() -> None:
    """Labels of another attempt of the same task say nothing of this one."""
    (finding,) = judged(labelled(("ann", True, 1.0), trial_id="other"), SEEN)
    assert (finding.verdict, finding.reason) == (Verdict.UNGRADED, "nobody labelled this attempt")


def test_scores_are_taken_over_only_while_the_labels_of_the_task_stay() -> None:
    """The fingerprint changes with what was said, not with the order of rows."""
    one, other = ("ann", True, 1.0), ("bob", False, 0.0)
    assert labelled(one, other).fingerprint(SEEN) == labelled(other, one).fingerprint(SEEN)
    assert labelled(one).fingerprint(SEEN) != labelled(("ann", False, 0.0)).fingerprint(SEEN)
    assert labelled(one).fingerprint(SEEN) != LabelsScorer(OPTIONS).fingerprint(SEEN)


@pytest.mark.parametrize("options", [{"path": "", "pass_at": 0.5}, {"path": "a.csv", "pass_at": 1.5}])
def test_options_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    """A file has a name, and a score lies in [0, 1]."""
    with pytest.raises(ConfigError):
        LabelsOptions.parse(options, where="config")
