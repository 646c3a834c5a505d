"""A benchmark whose tasks come from a data file: its `benchmark.json` names a loader in place of tasks.

What a loader makes is a benchmark in the ordinary format, so that from there on the ordinary rules hold.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.catalog.documents import Document
from skilleval.catalog.loaders import LOADERS
from skilleval.catalog.loaders.base import Loader
from skilleval.catalog.loaders.rows import read_rows
from skilleval.catalog.rules import said
from skilleval.errors import CatalogError, Problem
from skilleval.strict import nearest

DEFAULTS = "taskDefaults"
_KEYS = frozenset({"loader", "data", DEFAULTS})
_DEFAULT_KEYS = ("evaluator", "timeoutMs", "weight")
_PROBE = {"id": "probe", "inputData": {}, "expectedOutput": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A benchmark document whose tasks were made of rows, and what the loader has to say about them."""

    document: Document
    notices: tuple[str, ...]


def names_loader(value: object) -> bool:
    """Say whether a benchmark file names a loader in place of tasks."""
    return isinstance(value, dict) and "loader" in value


def with_probe(document: Document) -> Document:
    """Give the benchmark with one task that shows what `taskDefaults` make of each, to be held against the rules."""
    defaults = document.value.get(DEFAULTS, {})
    given = defaults if isinstance(defaults, dict) else {}
    known = {key: given[key] for key in _DEFAULT_KEYS if key in given}
    return _with_tasks(document, [{**_PROBE, **known}])


def own_problems(document: Document) -> Iterator[Problem]:
    """Find what is wrong with the keys that only such a benchmark has."""
    value, where = document.value, document.where
    if "tasks" in value:
        yield Problem(where=where, key="tasks", expected="either tasks or a loader", found="both")
    if value["loader"] not in tuple(LOADERS):
        hint = nearest(str(value["loader"]), sorted(LOADERS))
        expected = f"one of {', '.join(sorted(LOADERS))}"
        yield Problem(where=where, key="loader", expected=expected, found=said(value["loader"]), hint=hint)
    if "data" in value and not (isinstance(value["data"], str) and value["data"].strip()):
        expected = "the path of a data file, from the folder of this file"
        yield Problem(where=where, key="data", expected=expected, found=said(value["data"]))
    yield from _default_problems(value.get(DEFAULTS, {}), where)


def _default_problems(defaults: object, where: str) -> Iterator[Problem]:
    if not isinstance(defaults, dict):
        expected = "an object: keys that every task is given"
        yield Problem(where=where, key=DEFAULTS, expected=expected, found=said(defaults))
        return
    for key in defaults:
        if key not in _DEFAULT_KEYS:
            expected, hint = f"one of {', '.join(_DEFAULT_KEYS)}", nearest(key, list(_DEFAULT_KEYS))
            yield Problem(where=where, key=f"{DEFAULTS}.{key}", expected=expected, found=said(key), hint=hint)


def of_defaults(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Say the problems of the probe as problems of what it was made of."""
    return tuple(
        dataclasses.replace(problem, key=problem.key.replace("tasks[0]", DEFAULTS, 1)) for problem in problems
    )


def bring(document: Document) -> str:
    """Say how a user gets the data file."""
    return LOADERS[document.value["loader"]].bring


def load(document: Document, data: Path | None) -> Loaded:
    """Make the tasks of a benchmark that has no `own_problems`; `data` wins over the file it names itself.

    Raises:
        CatalogError: there is no data file, or rows of it cannot be used.
    """
    loader = LOADERS[document.value["loader"]]
    rows = read_rows(data or _named(document, loader))
    defaults: Mapping[str, Any] = document.value.get(DEFAULTS, {})
    tasks = [{**defaults, **loader.task(row, rows)} for row in rows.rows]
    if rows.problems:
        msg = f"{rows.where} is no usable data for {document.value['id']}"
        raise CatalogError(msg, problems=tuple(rows.problems))
    digest = hashlib.sha256(f"{document.digest}{rows.digest}".encode()).hexdigest()
    filled = dataclasses.replace(_with_tasks(document, tasks), where=rows.where, digest=digest)
    return Loaded(document=filled, notices=rows.notices.texts)


def _named(document: Document, loader: Loader) -> Path:
    if "data" in document.value:
        return Path(document.where).parent / str(document.value["data"])
    problem = Problem(
        where=document.where,
        key="data",
        expected="the data file that the tasks are made of",
        found="nothing",
        hint=loader.bring,
    )
    msg = f"{document.value['id']} brings no tasks of its own"
    raise CatalogError(msg, problems=(problem,))


def _with_tasks(document: Document, tasks: list[Any]) -> Document:
    about = {key: value for key, value in document.value.items() if key not in _KEYS}
    return dataclasses.replace(document, value={**about, "tasks": tasks})
