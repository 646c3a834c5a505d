"""The SQLite store of the tool `eval-skills`: every evaluation it kept, read without changing the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from skilleval.results.importers.base import (
    ImportedBenchmark,
    ImportedRun,
    ImportedTrial,
    Importer,
    ImportOptions,
)
from skilleval.results.importers.eval_skills import remarks, trial_of
from skilleval.results.importers.files import parsed
from skilleval.results.importers.node import Node, unusable

_MAGIC = b"SQLite format 3\x00"
_TABLES = {"skills", "evaluations", "task_results"}
_EVALUATIONS = """
select e.id, e.skill_id, e.benchmark_id, e.summary, e.timestamp, s.version, s.data
from evaluations e left join skills s on s.id = e.skill_id
order by e.timestamp, e.rowid
"""
_RESULTS = "select task_id, run_id, data from task_results where eval_id = ? order by task_id, run_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evaluation:
    """One evaluation of one skill. `is_newest` says whether the stored skill is the one that was evaluated."""

    about: dict[str, Any]
    where: str
    ended_at: datetime
    is_newest: bool
    trials: tuple[ImportedTrial, ...]


def read(path: Path, options: ImportOptions) -> tuple[ImportedRun, ...]:
    """Read a store: the first evaluations of all skills on a benchmark are one run, the second ones the next."""
    try:
        # Immutable: nothing is written beside the file either, not even a lock.
        with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?immutable=1", uri=True)) as opened:
            opened.row_factory = sqlite3.Row
            _check_tables(opened, path)
            evaluations = list(_evaluations(opened, str(path), options))
    except sqlite3.Error as error:
        raise unusable(str(path), "", "a SQLite store of eval-skills", str(error)) from None
    if not evaluations:
        raise unusable(str(path), "evaluations", "at least one evaluation", "none")
    return tuple(_runs(evaluations, options))


def _check_tables(opened: sqlite3.Connection, path: Path) -> None:
    found = {str(row[0]) for row in opened.execute("select name from sqlite_master where type = 'table'")}
    if missing := sorted(_TABLES - found):
        named = ", ".join(sorted(found)) or "no table"
        raise unusable(
            str(path), "", f"the tables {', '.join(sorted(_TABLES))}", named, f"lacks {missing[0]}"
        )


def _evaluations(opened: sqlite3.Connection, where: str, options: ImportOptions) -> Iterator[_Evaluation]:
    rows = [dict(row) for row in opened.execute(_EVALUATIONS)]
    newest = {row["skill_id"]: row["id"] for row in rows}
    for row in rows:
        is_newest = newest[row["skill_id"]] == row["id"]
        place = f"{where}: evaluations.{row['id']}"
        # `skills` keeps the last version only: which one an earlier evaluation had is lost.
        version = row["version"] if is_newest else None
        adapter = _adapter(row["data"], place) if is_newest else None
        results = opened.execute(_RESULTS, (row["id"],)).fetchall()
        yield _Evaluation(
            about=row,
            where=place,
            ended_at=Node(row["timestamp"], place, "timestamp").moment(),
            is_newest=is_newest,
            trials=tuple(
                trial_of(
                    parsed(_text(one["data"], f"{place}.{one['task_id']}"), f"{place}.{one['task_id']}"),
                    skill_id=row["skill_id"],
                    skill_version=version,
                    adapter=adapter,
                    model=options.model,
                )
                for one in results
            ),
        )


def _adapter(data: Any, where: str) -> str | None:
    if data is None:
        return None
    adapter = parsed(_text(data, where), where).get("adapterType")
    return None if adapter.value is None else adapter.text()


def _text(data: Any, where: str) -> bytes:
    return Node(data, where, "data").text().encode()


def _runs(evaluations: list[_Evaluation], options: ImportOptions) -> Iterator[ImportedRun]:
    turns: dict[tuple[str, int], list[_Evaluation]] = {}
    counts: dict[tuple[str, str], int] = {}
    for one in evaluations:
        key = (one.about["benchmark_id"], one.about["skill_id"])
        counts[key] = counts.get(key, -1) + 1
        turns.setdefault((one.about["benchmark_id"], counts[key]), []).append(one)
    for (benchmark, _), found in turns.items():
        trials = tuple(trial for one in found for trial in one.trials)
        lost = sorted({one.about["skill_id"] for one in found if not one.is_newest})
        told = [
            f"the version of {name} is not known: the store keeps that of its last evaluation"
            for name in lost
        ]
        yield ImportedRun(
            benchmark=ImportedBenchmark(id=options.benchmark or benchmark),
            trials=trials,
            ended_at=max(one.ended_at for one in found),
            published=[_published(one) for one in found],
            remarks=(*remarks(trials, options), *told),
        )


def _published(one: _Evaluation) -> dict[str, Any]:
    summary = one.about["summary"]
    value = None if summary is None else parsed(_text(summary, one.where), one.where).value
    return {"skillId": one.about["skill_id"], "summary": value}


def recognises(path: Path) -> bool:
    """Say whether this is a SQLite file; which tables it has is seen when it is read."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


STORE = Importer(name="eval-skills", what="SQLite store of eval-skills", recognises=recognises, read=read)
