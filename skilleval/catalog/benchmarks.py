"""Reads benchmarks and task files, and finds a benchmark by its id."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from skilleval.catalog.documents import Document, read_document
from skilleval.catalog.notices import Notices
from skilleval.catalog.rules import schema, violations
from skilleval.catalog.shapes import other_than_tasks
from skilleval.catalog.tasks import build_tasks, key_problems, strange_keys, task_problems
from skilleval.domain import Benchmark
from skilleval.errors import CatalogError, Problem
from skilleval.strict import nearest

BENCHMARK = "benchmark.json"
CUSTOM_ID = "custom"
_CUSTOM_VERSION = "0.0.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkReading:
    """A benchmark and what its reader has to say about the file."""

    benchmark: Benchmark
    notices: tuple[str, ...]


def read_benchmark(path: Path) -> BenchmarkReading:
    """Read a benchmark from its file or from the folder that holds `benchmark.json`.

    Raises:
        CatalogError: one problem a mistake, with the key, what was expected and what was found.
    """
    document = read_document(path / BENCHMARK if path.is_dir() else path)
    _refuse_strangers(document)
    if isinstance(document.value, list):
        hint = "give a bare task list as --tasks FILE"
        _refuse(document, (Problem(where=document.where, expected="a benchmark", found="a list", hint=hint),))
    return _reading(document)


def read_tasks(path: Path) -> BenchmarkReading:
    """Read a file of tasks: a bare list becomes the benchmark `custom`; a benchmark object stays what it is.

    Raises:
        CatalogError: as for `read_benchmark`.
    """
    document = read_document(path)
    _refuse_strangers(document)
    if not isinstance(document.value, list):
        return _reading(document)
    about = {"id": CUSTOM_ID, "name": path.name, "version": _CUSTOM_VERSION, "domain": "general"}
    benchmark = {**about, "scoringMethod": "mean", "tasks": document.value}
    return _reading(dataclasses.replace(document, value=benchmark))


def find_benchmark(name: str, roots: Sequence[Path]) -> BenchmarkReading:
    """Find a benchmark by its id in `<root>/<folder>/benchmark.json` and `<root>/*.json`, or by a path.

    Where several files carry the id the first one is used, in the order of `roots`, and a notice names the others.

    Raises:
        CatalogError: nothing carries the id (the known ids and unreadable files are listed), or the file is bad.
    """
    matches: list[Path] = []
    known: set[str] = set()
    broken: list[Problem] = []
    for file in _candidates(roots):
        try:
            found = _benchmark_id(read_document(file))
        except CatalogError as error:
            broken += error.problems
            continue
        known |= {found} if found else set()
        matches += [file] if found == name else []
    if matches:
        reading = read_benchmark(matches[0])
        others = [f"{other}: also has the id {name}, and is not used" for other in matches[1:]]
        unread = [f"not readable: {problem}" for problem in broken]
        return dataclasses.replace(reading, notices=(*reading.notices, *others, *unread))
    path = Path(name)
    if path.suffix == ".json" or path.is_file() or (path / BENCHMARK).is_file():
        return read_benchmark(path)
    raise _unknown(name, sorted(known), broken)


def _candidates(roots: Sequence[Path]) -> Iterator[Path]:
    seen: set[Path] = set()
    for root in roots:
        for file in (*sorted(root.glob(f"*/{BENCHMARK}")), *sorted(root.glob("*.json"))):
            if file.is_file() and file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _benchmark_id(document: Document) -> str | None:
    value = document.value
    if not isinstance(value, dict) or other_than_tasks(value) is not None:
        return None
    return value["id"] if isinstance(value.get("id"), str) else None


def _unknown(name: str, known: list[str], broken: Sequence[Problem]) -> CatalogError:
    hint = nearest(name, known) if known else "no benchmark was found"
    expected = f"one of {', '.join(known)}, or a path" if known else "a benchmark id or a path"
    problem = Problem(where="benchmark", key="name", expected=expected, found=name, hint=hint)
    msg = f"there is no benchmark {name}"
    return CatalogError(msg, problems=(problem, *broken))


def _reading(document: Document) -> BenchmarkReading:
    notices = Notices(document.where)
    problems = _problems(document, notices)
    if problems:
        _refuse(document, problems)
    return BenchmarkReading(benchmark=_benchmark(document, notices), notices=notices.texts)


def _problems(document: Document, notices: Notices) -> tuple[Problem, ...]:
    value, where = document.value, document.where
    misspelt = list(strange_keys(value, schema("benchmark")["properties"], "", where, notices))
    if isinstance(value.get("tasks"), list):
        misspelt += key_problems(value["tasks"], where=where, notices=notices)
    broken = violations(value, name="benchmark", where=where)
    return (*misspelt, *(broken or _rule_problems(value, where)))


def _rule_problems(value: Mapping[str, Any], where: str) -> tuple[Problem, ...]:
    found = task_problems(value["tasks"], where=where)
    if "k" in value and value.get("scoringMethod") != "pass_at_k":
        expected = "k only with the scoringMethod pass_at_k"
        found += (Problem(where=where, key="k", expected=expected, found="it with another one"),)
    return found


def _benchmark(document: Document, notices: Notices) -> Benchmark:
    value: dict[str, Any] = document.value
    for key, default in (("name", value["id"]), ("domain", "general"), ("scoringMethod", "mean")):
        if key not in value:
            notices.filled_in(key, default)
    about = {"description": value["description"]} if "description" in value else {}
    limit = value.get("maxLatencyMs")
    return Benchmark(
        id=value["id"],
        version=value["version"],
        name=value.get("name", value["id"]),
        tasks=build_tasks(value["tasks"], notices=notices),
        source=document.path,
        digest=document.digest,
        domain=value.get("domain", "general"),
        scoring_method=value.get("scoringMethod", "mean"),
        k=int(value.get("k", 1)),
        max_latency_ms=None if limit is None else float(limit),
        metadata={**about, **value.get("metadata", {})},
    )


def _refuse_strangers(document: Document) -> None:
    shape = other_than_tasks(document.value)
    if shape is not None:
        hint = "tasks have id, inputData or prompt, and expectedOutput"
        expected = "a benchmark or a list of tasks"
        _refuse(document, (Problem(where=document.where, expected=expected, found=shape, hint=hint),))


def _refuse(document: Document, problems: tuple[Problem, ...]) -> NoReturn:
    msg = f"{document.where} is no usable benchmark"
    raise CatalogError(msg, problems=problems)
