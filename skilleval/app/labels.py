"""Labels by people: a file is read and checked, and each row finds the attempts that it speaks of."""

from __future__ import annotations

import codecs
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.domain.tasks import Benchmark
from skilleval.domain.trials import Trial
from skilleval.errors import CatalogError, ConfigError, Problem
from skilleval.scorers.base import Scorer
from skilleval.scorers.labels import Label, LabelsScorer
from skilleval.strict import nearest

_COLUMNS = ("trial_id", "skill_id", "task_id", "repeat", "passed", "score", "rater")
_NARROWING = ("trial_id", "skill_id", "repeat")
_WORDS = {
    **dict.fromkeys(("true", "1", "1.0", "yes", "pass", "passed"), True),
    **dict.fromkeys(("false", "0", "0.0", "no", "fail", "failed"), False),
}
_SUFFIXES = (".csv", ".parquet", ".jsonl", ".ndjson")
_SHOWN = 10
_ENCODING = "save it as UTF-8, or as UTF-16 with a byte order mark"

_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Labelled:
    """The scorers of a run, those by labels with theirs, and what is worth saying about the labels."""

    scorers: Mapping[str, Scorer]
    warnings: tuple[str, ...] = ()


def with_labels(scorers: Mapping[str, Scorer], trials: Sequence[Trial], benchmark: Benchmark) -> Labelled:
    """Give the scorers by labels the labels of these trials; the others stay as they are.

    Raises:
        CatalogError: a file of labels cannot be read, or does not fit the benchmark.
        ConfigError: it is no kind of file that holds labels.
    """
    given, warnings = dict(scorers), []
    for name, scorer in scorers.items():
        if isinstance(scorer, LabelsScorer):
            labels, unused = _labels(scorer, f"scorers.{name}.path", trials, benchmark)
            given[name] = scorer.holding(labels)
            warnings += unused
    return Labelled(given, tuple(warnings))


def _labels(
    scorer: LabelsScorer, key: str, trials: Sequence[Trial], benchmark: Benchmark
) -> tuple[list[Label], list[str]]:
    path = Path(scorer.options.path)
    rows = _read(path, key)
    _refuse(path, _wrong(path, rows, benchmark))
    by_task: dict[str, list[Trial]] = {}
    for trial in trials:
        by_task.setdefault(trial.task.id, []).append(trial)
    found: dict[tuple[str, str], Label] = {}
    idle = 0
    for row in rows:
        fitting = [trial for trial in by_task.get(row["task_id"], []) if _speaks_of(row, trial)]
        idle += not fitting
        for trial in fitting:
            label = _label(row, trial, scorer.options.pass_at)
            known = found.setdefault((trial.trial_id, label.rater), label)
            if (known.passed, known.score) != (label.passed, label.score):
                _refuse(path, [_contradiction(path, row)])
    if not found:
        expected = "a label of an attempt of this run"
        hint = "skill_id, repeat and trial_id must be those of the run, where they are given"
        _refuse(path, [Problem(where=str(path), expected=expected, found="none", hint=hint)])
    told = f"{path}: {idle} of {len(rows)} labels speak of no attempt of this run"
    return list(found.values()), [told] if idle else []


def _refuse(path: Path, problems: Sequence[Problem]) -> None:
    if problems:
        msg = f"the labels in {path} cannot be used"
        raise CatalogError(msg, problems=tuple(problems))


def _read(path: Path, key: str) -> list[dict[str, Any]]:
    """Read the rows as texts, each with its number; the first one after a heading is 1."""
    if path.suffix.lower() not in _SUFFIXES:
        expected, hint = f"a file that ends in {' or '.join(_SUFFIXES)}", f"name it with {key}=FILE"
        problem = Problem(where="config", key=key, expected=expected, found=str(path), hint=hint)
        raise ConfigError("the labels cannot be read", problems=(problem,))
    try:
        frame = _frame(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(path, key, str(error).splitlines()[0]) from None
    except UnicodeError:
        raise _unreadable(path, key, "a text in another encoding than UTF-8", _ENCODING) from None
    _refuse(path, list(_wrong_columns(path, frame)))
    texts = frame.select(pl.col(name).cast(pl.String).str.strip_chars() for name in frame.columns)
    empty = dict.fromkeys(_COLUMNS)
    rows = texts.with_row_index("row", offset=1).iter_rows(named=True)
    return [empty | {name: value or None for name, value in row.items()} for row in rows]


def _unreadable(path: Path, key: str, found: str, hint: str = "") -> CatalogError:
    problem = Problem(where=str(path), key=key, expected="a table of labels", found=found, hint=hint)
    return CatalogError("the labels cannot be read", problems=(problem,))


def _frame(path: Path) -> pl.DataFrame:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return pl.read_parquet(path)
    text = _utf8(path.read_bytes())
    return (
        pl.read_csv(text, infer_schema=False)
        if suffix == ".csv"
        else pl.read_ndjson(text, infer_schema_length=None)
    )


def _utf8(held: bytes) -> bytes:
    """Give a text in UTF-8; spreadsheets save it as UTF-16 too, with a mark in front.

    Raises:
        UnicodeError: it is neither.
    """
    if held.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return held.decode("utf-16").encode()
    text = held.removeprefix(codecs.BOM_UTF8)
    if b"\0" in text:  # which UTF-8 has no use for, and UTF-16 in every other place
        raise UnicodeError
    text.decode("utf-8")
    return text


def _wrong_columns(path: Path, frame: pl.DataFrame) -> Iterator[Problem]:
    for name in frame.columns:
        if name not in _COLUMNS:
            hint = nearest(name, [*_COLUMNS])
            yield Problem(where=str(path), key=name, expected=f"columns {', '.join(_COLUMNS)}", hint=hint)
        elif frame.schema[name].is_nested():
            yield Problem(where=str(path), key=name, expected="single values", found=str(frame.schema[name]))
    if "task_id" not in frame.columns:
        yield Problem(where=str(path), key="task_id", expected="a column task_id", found="none")
    if not {"passed", "score"} & {*frame.columns}:
        yield Problem(where=str(path), key="passed", expected="a column passed or score", found="neither")


def _wrong(path: Path, rows: Sequence[_Row], benchmark: Benchmark) -> list[Problem]:
    """Find the rows that cannot be used, and the tasks that are not in the benchmark."""
    tasks = {task.id for task in benchmark.tasks}
    problems = [problem for row in rows for problem in _wrong_row(path, row)]
    strange = list(dict.fromkeys(row["task_id"] for row in rows if row["task_id"] not in {*tasks, None}))
    if strange:
        shown = ", ".join(strange[:_SHOWN])
        more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
        expected = f"tasks of {benchmark.id}@{benchmark.version}"
        hint = nearest(strange[0], sorted(tasks))
        problems.append(
            Problem(where=str(path), key="task_id", expected=expected, found=f"{shown}{more}", hint=hint)
        )
    return problems[:_SHOWN]


def _wrong_row(path: Path, row: _Row) -> Iterator[Problem]:
    rules = (
        ("task_id", row["task_id"] is not None, "the id of a task"),
        ("passed", row["passed"] is None or row["passed"].lower() in _WORDS, "true or false"),
        ("score", row["score"] is None or _share(row["score"]) is not None, "a number from 0 to 1"),
        ("passed", row["passed"] is not None or row["score"] is not None, "a verdict or a score"),
        ("repeat", row["repeat"] is None or _whole(row["repeat"]) is not None, "a whole number, 0 or more"),
    )
    for key, is_right, expected in rules:
        if not is_right:
            where, found = f"{path}, row {row['row']}", row[key] or "nothing"
            yield Problem(where=where, key=key, expected=expected, found=found)


def _share(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 1 else None


def _whole(text: str) -> int | None:
    """Read a whole number; a table with gaps may hold it as 2.0."""
    digits = text.removesuffix(".0")
    return int(digits) if digits.isascii() and digits.isdigit() else None


def _speaks_of(row: _Row, trial: Trial) -> bool:
    """Say whether a label is about a trial of its task: what it leaves open may be anything."""
    repeat = None if row["repeat"] is None else _whole(row["repeat"])
    return (
        row["trial_id"] in {None, trial.trial_id}
        and row["skill_id"] in {None, trial.skill.id}
        and repeat in {None, trial.repeat}
    )


def _label(row: _Row, trial: Trial, pass_at: float) -> Label:
    score = None if row["score"] is None else _share(row["score"])
    said = None if row["passed"] is None else _WORDS[row["passed"].lower()]
    passed = score is not None and score >= pass_at if said is None else said
    return Label(
        trial_id=trial.trial_id,
        task_id=trial.task.id,
        passed=passed,
        score=float(passed) if score is None else score,
        rater=row["rater"] or "",
    )


def _contradiction(path: Path, row: _Row) -> Problem:
    who = row["rater"] or "nobody named"
    narrower = ", ".join(_NARROWING)
    return Problem(
        where=f"{path}, row {row['row']}",
        key="rater",
        expected="one label a person and attempt",
        found=f"two that differ, by {who}, on task {row['task_id']}",
        hint=f"name different raters, or say which attempt is meant ({narrower})",
    )
