from __future__ import annotations

import pytest
from reports import CALCULATOR, MANIFEST, report_of

from skilleval.report.facts import origins, run_line


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({"trials": 18, "by_status": {"completed": 6, "skill_error": 12}}, "6 completed, 12 skill_error"),
        ({"completed": 179, "timeout": 1}, "179 completed, 1 timeout"),
    ],
)
def test_trials_are_counted_by_status(counts: dict[str, object], text: str) -> None:
    """How trials ended is said in words, never as the notation of the manifest."""
    assert dict(origins(report_of(CALCULATOR, manifest=MANIFEST | {"counts": counts})))["trials"] == text


def test_parts_of_parts_are_words_too() -> None:
    """A value with parts stands in brackets, a list with blanks between; braces and quotes are nowhere."""
    platform = {"system": "Linux", "cpu": {"cores": 2, "flags": ["a", "b"]}, "gone": None}
    found = dict(origins(report_of(CALCULATOR, manifest=MANIFEST | {"platform": platform})))
    assert found["platform"] == "system Linux, cpu (cores 2, flags a b)"


def manifest_with(**runner: object) -> dict[str, object]:
    """Give the manifest of a run with these settings of the runner."""
    return MANIFEST | {"config": {"runner": runner}}


def test_models_are_named_with_their_place() -> None:
    """Who was asked and who judged stands among the origins; nobody is named where nobody was asked."""
    model = {"kind": "openai", "name": "small", "base_url": "http://127.0.0.1:1/v1"}
    judge, nobody = {"kind": "same", "name": "grader"}, {"kind": "none"}
    config = {"config": {"model": model, "judge": judge, "second_judge": nobody}}
    found = dict(origins(report_of(CALCULATOR, manifest=MANIFEST | config)))
    assert found["model"] == "small at http://127.0.0.1:1/v1"
    assert found["judge"] == "grader, asked as the model is"
    assert "second judge" not in found
    none = {"config": {"model": nobody, "judge": {"kind": "same", "name": None}, "second_judge": nobody}}
    assert not {"model", "judge"} & dict(origins(report_of(CALCULATOR, manifest=MANIFEST | none))).keys()


def test_a_model_that_is_asked_has_no_process_to_tell_of() -> None:
    """Of trials that only asked a model nothing is said about processes."""
    observed = MANIFEST | {"observed": {"isolation": ["worker"]}}
    asked = report_of(CALCULATOR | {"adapter": "chat"}, manifest=observed)
    assert "isolation" not in dict(origins(asked))
    assert "isolation" in dict(origins(report_of(CALCULATOR, manifest=observed)))


def test_a_serial_latency_is_said_where_every_format_shows_it() -> None:
    """The line under the title says how it was measured; the usual way is said among the origins only."""
    serial = report_of(CALCULATOR, manifest=manifest_with(latency="serial", concurrency=8))
    assert "latency: serial, one at a time" in run_line(serial.run)
    assert dict(origins(serial))["latency"].startswith("serial: ")
    usual = report_of(CALCULATOR, manifest=manifest_with(latency="concurrent", concurrency=8))
    assert not any("latency" in fact for fact in run_line(usual.run))
    assert dict(origins(usual))["latency"] == "as the trials ran, at most 8 at once"
    assert "latency" not in dict(origins(report_of(CALCULATOR, manifest=MANIFEST | {"config": {}})))


def test_reused_attempts_are_named_by_their_run() -> None:
    """A reader finds the run that made them."""
    found = dict(origins(report_of(CALCULATOR, reused={"r1": 40, "r2": 1})))
    assert found["reused"] == "40 attempts of run r1, 1 attempt of run r2"


def test_the_load_is_that_of_the_trials_not_of_the_settings() -> None:
    """A run that was gone on with under another concurrency names the lowest and the highest that trials had."""
    for seen, said in (([1, 4], "at most 1–4 at once"), ([4, 4], "at most 4 at once")):
        manifest = manifest_with(latency="concurrent", concurrency=8) | {"observed": {"concurrency": seen}}
        report = report_of(CALCULATOR, manifest=manifest)
        assert dict(origins(report))["latency"] == f"as the trials ran, {said}"


def test_what_trials_had_to_themselves_is_said() -> None:
    """The isolation stands beside the sandbox, in words."""
    report = report_of(CALCULATOR, manifest=MANIFEST | {"observed": {"isolation": ["trial", "worker"]}})
    assert dict(origins(report))["isolation"] == (
        "trial (each trial had a process of its own), worker (one process served many trials)"
    )


def test_a_run_that_was_cut_short_says_how_far_it_came() -> None:
    """Tasks and repeats are those that were planned; beside them stands how many trials were done."""
    manifest = MANIFEST | {"n_planned": 200, "counts": {"trials": 115, "by_status": {"completed": 115}}}
    report = report_of(CALCULATOR, manifest=manifest)
    (said,) = (fact for fact in run_line(report.run) if "planned" in fact)
    assert said.endswith("planned, 115 of 200 trials done")
    waiting = {"counts": manifest["counts"] | {"not_judged": 3}}
    (said,) = (
        fact for fact in run_line(report_of(CALCULATOR, manifest=manifest | waiting).run) if "planned" in fact
    )
    assert said.endswith("planned, 112 of 200 trials done, 3 more not judged yet")
