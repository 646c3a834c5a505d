from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from samples import benchmark, judged, planned, record, skill, task, trials

from skilleval.app.labels import with_labels
from skilleval.domain.scores import Verdict
from skilleval.domain.trials import Trial
from skilleval.errors import CatalogError, ConfigError
from skilleval.scorers.base import Scorer
from skilleval.scorers.exact import ExactOptions, ExactScorer
from skilleval.scorers.labels import LabelsOptions, LabelsScorer

TASKS = (task("t1"), task("t2"))
TRIALS = trials(*TASKS, skills=(planned(skill("a")), planned(skill("b"))), repeats=2)


def scorers(path: Path, pass_at: float = 0.5) -> dict[str, Scorer]:
    """Give the scorers of a run that is judged by labels."""
    return {"labels": LabelsScorer(LabelsOptions(path=str(path), pass_at=pass_at))}


def verdicts(path: Path, **options: float) -> dict[tuple[str, str, int], str]:
    """Give the verdict of each labelled trial: skill, task, repeat."""
    scorer = with_labels(scorers(path, **options), TRIALS, benchmark(*TASKS)).scorers["labels"]
    found = {
        _name(trial): judged(scorer, replace(record("x"), trial_id=trial.trial_id))[0] for trial in TRIALS
    }
    return {name: one.verdict.value for name, one in found.items() if one.verdict is not Verdict.UNGRADED}


def _name(trial: Trial) -> tuple[str, str, int]:
    return (trial.skill.id, trial.task.id, trial.repeat)


def written(folder: Path, text: str, name: str = "labels.csv") -> Path:
    """Write a file of labels."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_label_speaks_of_what_it_leaves_open(tmp_path: Path) -> None:
    """Without skill and repeat it is about every attempt of the task; with them about that one."""
    path = written(tmp_path, "task_id,skill_id,repeat,passed\nt1,,,yes\nt2,b,1,FALSE\n")
    assert verdicts(path) == {
        ("a", "t1", 0): "passed",
        ("a", "t1", 1): "passed",
        ("b", "t1", 0): "passed",
        ("b", "t1", 1): "passed",
        ("b", "t2", 1): "failed",
    }


def test_a_trial_id_names_one_attempt(tmp_path: Path) -> None:
    """It is the only way to tell the arms of a comparison apart."""
    path = written(tmp_path, f"task_id,trial_id,passed\nt1,{TRIALS[0].trial_id},1\n")
    assert verdicts(path) == {_name(TRIALS[0]): "passed"}


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_every_format_says_the_same(tmp_path: Path, suffix: str) -> None:
    """Types do not matter: a table with gaps may hold repeats as 1.0."""
    frame = pl.DataFrame({"task_id": ["t1", "t2"], "repeat": [None, 1.0], "passed": [True, False]})
    path = tmp_path / f"labels.{suffix}"
    write: dict[str, Callable[[Path], object]] = {
        "csv": frame.write_csv,
        "parquet": frame.write_parquet,
        "jsonl": frame.write_ndjson,
    }
    write[suffix](path)
    assert len(verdicts(path)) == 6


def test_a_score_alone_passes_from_the_threshold_on(tmp_path: Path) -> None:
    """The option decides where no verdict was given."""
    path = written(tmp_path, "task_id,score\nt1,0.5\nt2,0.4\n")
    assert {name[1]: said for name, said in verdicts(path).items()} == {"t1": "passed", "t2": "failed"}
    assert {name[1]: said for name, said in verdicts(path, pass_at=0.6).items()} == {
        "t1": "failed",
        "t2": "failed",
    }


def test_unknown_tasks_are_named(tmp_path: Path) -> None:
    """All of them, with the nearest that there is."""
    path = written(tmp_path, "task_id,passed\nt1,1\nt3,1\nzz,0\n")
    with pytest.raises(CatalogError) as caught:
        verdicts(path)
    (problem,) = caught.value.problems
    assert (problem.key, problem.expected, problem.found) == ("task_id", "tasks of sums@1.0.0", "t3, zz")
    assert problem.hint == "known: t1, t2"


@pytest.mark.parametrize(
    ("text", "key", "found"),
    [
        ("task_id,passed\nt1,perhaps\n", "passed", "perhaps"),
        ("task_id,score\nt1,1.5\n", "score", "1.5"),
        ("task_id,score\nt1,nan\n", "score", "nan"),
        ("task_id,passed,score\nt1,,\n", "passed", "nothing"),
        ("task_id,passed\n,1\n", "task_id", "nothing"),
        ("task_id,repeat,passed\nt1,first,1\n", "repeat", "first"),
        ("task_id,passed,verdict\nt1,1,1\n", "verdict", ""),
        ("task,passed\nt1,1\n", "task", ""),
        ("task_id,rater\nt1,ann\n", "passed", "neither"),
        ("task_id,rater,passed\nt1,ann,1\nt1,ann,0\n", "rater", "two that differ, by ann, on task t1"),
        ("task_id,skill_id,passed\nt1,nobody,1\n", "", "none"),
    ],
)
def test_labels_that_cannot_be_used_are_refused_with_the_place(
    tmp_path: Path, text: str, key: str, found: str
) -> None:
    """Row, column, what was expected and what stands there."""
    with pytest.raises(CatalogError) as caught:
        verdicts(written(tmp_path, text))
    problem = caught.value.problems[0]
    assert (problem.key, problem.found) == (key, found)
    assert problem.expected


@pytest.mark.parametrize("name", ["labels.txt", "gone.csv", "broken.parquet"])
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, name: str) -> None:
    """Another kind of file, none at all, and one that is not what it says."""
    if name != "gone.csv":
        written(tmp_path, "no table", name)
    with pytest.raises((CatalogError, ConfigError), match="cannot be read"):
        verdicts(tmp_path / name)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("labels.csv", "task_id,passed,rater\nt1,1,Zoë\n"),
        ("labels.jsonl", '{"task_id": "t1", "passed": 1, "rater": "Zoë"}\n'),
    ],
)
def test_a_file_with_a_mark_of_its_encoding_is_read(
    tmp_path: Path, name: str, text: str, encoding: str
) -> None:
    """Spreadsheets save tables as UTF-8 and as UTF-16, with a mark in front."""
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    assert {task_id for _, task_id, _ in verdicts(path)} == {"t1"}


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "latin-1"])
def test_another_encoding_is_named_with_the_way_out(tmp_path: Path, name: str, encoding: str) -> None:
    """Without a mark nobody can tell what the bytes mean."""
    path = tmp_path / name
    path.write_bytes("task_id,passed,rater\nt1,1,Zoë\n".encode(encoding))
    with pytest.raises(CatalogError, match="save it as UTF-8, or as UTF-16 with a byte order mark"):
        verdicts(path)


def test_labels_of_nothing_here_are_counted_and_told(tmp_path: Path) -> None:
    """A file may cover more than this run."""
    path = written(tmp_path, "task_id,skill_id,passed\nt1,a,1\nt1,gone,1\n")
    told = with_labels(scorers(path), TRIALS, benchmark(*TASKS)).warnings
    assert told == (f"{path}: 1 of 2 labels speak of no attempt of this run",)


def test_other_scorers_stay_as_they_are() -> None:
    """A run without labels reads no file."""
    values: Mapping[str, Any] = {"case_sensitive": True, "strip": True, "tolerance": 0.0}
    exact = ExactScorer(ExactOptions.parse(values, where="config"))
    assert with_labels({"exact": exact}, TRIALS, benchmark(*TASKS)).scorers == {"exact": exact}
