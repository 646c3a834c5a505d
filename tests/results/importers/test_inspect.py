"""Logs of Inspect."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from results.importers.foreign import Json, inspect_archive, inspect_log, inspect_sample, write

from skilleval.domain.attempts import Status, Usage
from skilleval.domain.scores import Verdict
from skilleval.errors import ResultsError
from skilleval.results.importers.base import ImportedRun, ImportedTrial, ImportOptions
from skilleval.results.importers.inspect_log import INSPECT
from skilleval.results.importers.inspect_scores import share_of

PLAIN = ImportOptions()
WHOLE = [inspect_sample(name, epoch) for name in ("a", "b") for epoch in (1, 2)]


def one(tmp_path: Path, **more: Any) -> ImportedTrial:
    """Read a log of a single sample."""
    (run,) = INSPECT.read(write(tmp_path / "log.json", inspect_log([inspect_sample("a", 1, **more)])), PLAIN)
    return run.trials[0]


def known(run: ImportedRun) -> list[tuple[Any, ...]]:
    """Give of each trial what does not depend on the file it stands in."""
    return [(t.task_id, t.repeat, t.status, t.checks, t.latency_ms, t.usage, t.output) for t in run.trials]


def test_both_files_of_a_log_say_the_same(tmp_path: Path) -> None:
    """The zip and the JSON document give equal trials."""
    log = inspect_log(WHOLE)
    (from_json,) = INSPECT.read(write(tmp_path / "log.json", log), PLAIN)
    (from_zip,) = INSPECT.read(inspect_archive(tmp_path / "log.eval", log), PLAIN)
    assert known(from_json) == known(from_zip)
    assert [(t.task_id, t.repeat) for t in from_zip.trials] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert (from_zip.tool_version, from_zip.benchmark.version, from_zip.n_planned) == ("0.3.140", "3", 4)
    assert not from_zip.interrupted


def test_units_times_and_models_are_those_of_the_subject(tmp_path: Path) -> None:
    """Seconds of work become ms, offsets become UTC, and a judge's tokens are not the model's."""
    trial = one(tmp_path)
    assert (trial.latency_ms, trial.sandbox, trial.model, trial.response_model) == (
        2250.0,
        "docker",
        "m/asked",
        "m/served",
    )
    assert trial.usage == Usage(input_tokens=7, output_tokens=2, total_tokens=9, cached_tokens=3)
    assert trial.started_at is not None
    assert trial.started_at.isoformat() == "2026-06-01T08:00:01+00:00"
    assert trial.input == {"input": "question a"}
    assert trial.expected == {"value": "4"}


@pytest.mark.parametrize(
    ("value", "share"),
    [
        ("C", 1.0),
        ("I", 0.0),
        ("P", 0.5),
        ("N", 0.0),
        (True, 1.0),
        (0.25, 0.25),
        ("yes", 1.0),
        ("0.5", 0.5),
        (7, None),
        (-1, None),
        (float("nan"), None),
        ("maybe", None),
        (None, None),
        ([1, 0], None),
    ],
)
def test_values_are_worth_what_they_are_worth_in_inspect(value: object, share: float | None) -> None:
    """Letters, truth and shares; what is no share is not known, and never squeezed into the range."""
    assert share_of(value) == share


def test_a_value_that_is_no_share_is_ungraded(tmp_path: Path) -> None:
    """It has neither passed nor failed."""
    (check,) = one(tmp_path, scores={"length": {"value": 812}}).checks
    assert (check.verdict, check.score, check.reason) == (Verdict.UNGRADED, None, "no share: 812")


def test_named_values_are_checks_of_one_scorer(tmp_path: Path) -> None:
    """An object of values is one check each."""
    checks = one(tmp_path, scores={"judge": {"value": {"tone": 1, "facts": 0.5}}}).checks
    assert [(c.scorer, c.check_id, c.score) for c in checks] == [
        ("judge", "tone", 1.0),
        ("judge", "facts", 0.5),
    ]
    assert [c.verdict for c in checks] == [Verdict.PASSED, Verdict.FAILED]


def test_an_error_of_a_sample_is_nobodys_failure(tmp_path: Path) -> None:
    """Inspect leaves it out of its numbers too."""
    trial = one(tmp_path, scores=None, error={"message": "boom", "traceback": "…"})
    assert (trial.status, trial.failure_kind, trial.message) == (
        Status.PROVIDER_ERROR,
        "sample_error",
        "boom",
    )


@pytest.mark.parametrize(
    ("kind", "scores", "status"),
    [
        ("time", None, Status.TIMEOUT),
        ("time", {"match": {"value": "C"}}, Status.COMPLETED),
        ("token", {"match": {"value": "I"}}, Status.COMPLETED),
        ("token", None, Status.COMPLETED),
    ],
)
def test_a_limit_counts_as_inspect_counts_it(
    tmp_path: Path, kind: str, scores: Json | None, status: Status
) -> None:
    """What was scored in spite of a limit stays scored; a time limit without a score is a time-out."""
    trial = one(tmp_path, scores=scores, limit={"type": kind, "limit": 5})
    assert (trial.status, trial.failure_kind) == (status, f"limit_{kind}")


def test_texts_that_stand_apart_are_found(tmp_path: Path) -> None:
    """A long answer is an attachment; an older log has it in its choices."""
    apart = {"model": "m", "completion": "attachment://x"}
    assert one(tmp_path, output=apart, attachments={"x": "long"}).output == '"long"'
    choices = [
        {"message": {"role": "assistant", "content": [{"type": "text", "text": "ab"}, {"type": "image"}]}}
    ]
    assert one(tmp_path, output={"choices": choices}).output == '"ab"'


def test_a_log_that_was_cut_short_says_so(tmp_path: Path) -> None:
    """Without a header, or with another status than success, the run is marked as interrupted."""
    log = inspect_log(WHOLE[:1], status="cancelled")
    for path in (
        inspect_archive(tmp_path / "cut.eval", log, is_whole=False),
        write(tmp_path / "cut.json", log),
    ):
        (run,) = INSPECT.read(path, PLAIN)
        assert run.interrupted
        assert (len(run.trials), run.n_planned) == (1, 4)
        assert any("did not come to its end" in remark for remark in run.remarks)


def test_a_folder_gives_a_run_for_each_log(tmp_path: Path) -> None:
    """Logs are runs of their own; other files are passed over."""
    write(tmp_path / "a" / "1.json", inspect_log(WHOLE))
    inspect_archive(tmp_path / "2.eval", inspect_log(WHOLE))
    write(tmp_path / "other.json", {"eval": 1})
    assert INSPECT.recognises(tmp_path)
    assert len(INSPECT.read(tmp_path, PLAIN)) == 2


def test_damaged_logs_are_told(tmp_path: Path) -> None:
    """Cut files, foreign archives and foreign JSON are one clear error."""
    path = inspect_archive(tmp_path / "x.eval", inspect_log(WHOLE))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ResultsError, match=r"x\.eval"):
        INSPECT.read(path, PLAIN)
    with zipfile.ZipFile(tmp_path / "y.eval", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(ResultsError, match=r"header\.json or _journal/start\.json, found neither"):
        INSPECT.read(tmp_path / "y.eval", PLAIN)
    with pytest.raises(ResultsError, match="eval: expected a value, found no such key"):
        INSPECT.read(write(tmp_path / "z.json", {}), PLAIN)


def test_a_packing_that_python_does_not_know_is_told(tmp_path: Path) -> None:
    """The hint says how to write the log so that it can be read."""
    path = inspect_archive(tmp_path / "x.eval", inspect_log(WHOLE))
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = data.find(signature)
        while start >= 0:
            data[start + offset] = 99
            start = data.find(signature, start + 1)
    path.write_bytes(bytes(data))
    with pytest.raises(ResultsError, match="inspect log convert --to json"):
        INSPECT.read(path, PLAIN)
