"""Reads benchmarks and task files, and finds a benchmark by its id or lists all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from skilleval.catalog.companions import whole_digest
from skilleval.catalog.documents import Document, read_document
from skilleval.catalog.loaders.loading import load, names_loader, of_defaults, own_problems, with_probe
from skilleval.catalog.notices import Notices
from skilleval.catalog.paths import is_file, is_folder
from skilleval.catalog.rules import schema, violations
from skilleval.catalog.shapes import other_than_tasks
from skilleval.catalog.tasks import build_tasks, key_problems, note_unanswered, strange_keys, task_problems
from skilleval.domain.tasks import Benchmark, Task
from skilleval.errors import CatalogError, Problem
from skilleval.strict import nearest

BENCHMARK = "benchmark.json"
CUSTOM_ID = "custom"
_CUSTOM_VERSION = "0.0.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkReading:
    """A benchmark and what its reader has to say about the file.

    `remarks` are the notices that matter without being asked for: all but aliases and what was filled in.
    """

    benchmark: Benchmark
    notices: tuple[str, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """The file of a benchmark, and what is to be said about the search for it."""

    file: Path
    notices: tuple[str, ...] = ()


def read_benchmark(path: Path, *, data: Path | None = None) -> BenchmarkReading:
    """Read a benchmark from its file or from the folder that holds `benchmark.json`.

    `data` is the file of which a benchmark that names a loader makes its tasks.

    Raises:
        CatalogError: one problem a mistake, with the key, what was expected and what was found.
    """
    document = read_document(path / BENCHMARK if is_folder(path) else path)
    if not names_loader(document.value):
        _refuse_strangers(document)
        if isinstance(document.value, list):
            found, hint = "a list", "give a bare task list as --tasks FILE"
            _refuse(
                document, (Problem(where=document.where, expected="a benchmark", found=found, hint=hint),)
            )
    return _either(document, data)


def read_tasks(path: Path, *, data: Path | None = None) -> BenchmarkReading:
    """Read a file of tasks: a bare list becomes the benchmark `custom`; a benchmark object stays what it is.

    Raises:
        CatalogError: as for `read_benchmark`.
    """
    document = read_document(path / BENCHMARK if is_folder(path) else path)
    if not names_loader(document.value):
        _refuse_strangers(document)
    if isinstance(document.value, list):
        about = {"id": CUSTOM_ID, "name": path.name, "version": _CUSTOM_VERSION, "domain": "general"}
        benchmark = {**about, "scoringMethod": "mean", "tasks": document.value}
        document = dataclasses.replace(document, value=benchmark)
    return _either(document, data)


def find_benchmark(name: str, roots: Sequence[Path], *, data: Path | None = None) -> BenchmarkReading:
    """Find a benchmark by its id in `<root>/<folder>/benchmark.json` and `<root>/*.json`, or by a path, and read it.

    Raises:
        CatalogError: nothing carries the id, or the file is bad.
    """
    located = locate_benchmark(name, roots)
    reading = read_benchmark(located.file, data=data)
    return with_remarks(reading, *located.notices)


def with_remarks(reading: BenchmarkReading, *remarks: str) -> BenchmarkReading:
    """Give a reading of which more is to be said."""
    return dataclasses.replace(
        reading, notices=(*reading.notices, *remarks), remarks=(*reading.remarks, *remarks)
    )


def locate_benchmark(name: str, roots: Sequence[Path]) -> Located:
    """Find the file of a benchmark by the id inside it, or by a path. An id never leads to a file by itself.

    Where several files carry the id the first one is used, in the order of `roots`, and a notice names the others.

    Raises:
        CatalogError: nothing carries the id (the known ids and unreadable files are listed).
    """
    matches: list[Path] = []
    known: set[str] = set()
    broken: list[Problem] = []
    for file in candidates(roots):
        try:
            found = benchmark_id(read_document(file))
        except CatalogError as error:
            broken += error.problems
            continue
        known |= {found} if found else set()
        matches += [file] if found == name else []
    if matches:
        others = [f"{other}: also has the id {name}, and is not used" for other in matches[1:]]
        unread = [f"not readable: {problem}" for problem in broken]
        return Located(file=matches[0], notices=(*others, *unread))
    path = Path(name)
    if path.suffix == ".json" or is_file(path) or is_file(path / BENCHMARK):
        return Located(file=path / BENCHMARK if is_folder(path) else path)
    raise _unknown(name, sorted(known), broken)


def candidates(roots: Sequence[Path]) -> Iterator[Path]:
    """Give the files below the roots that may be benchmarks, each once."""
    seen: set[Path] = set()
    for root in roots:
        for file in (*sorted(root.glob(f"*/{BENCHMARK}")), *sorted(root.glob("*.json"))):
            if is_file(file) and file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def benchmark_id(document: Document) -> str | None:
    """Give the id of a benchmark, right or wrong otherwise; null where a file is something else."""
    value = document.value
    if not isinstance(value, dict) or (not names_loader(value) and other_than_tasks(value) is not None):
        return None
    return value["id"] if isinstance(value.get("id"), str) else None


def _unknown(name: str, known: list[str], broken: Sequence[Problem]) -> CatalogError:
    hint = nearest(name, known) if known else "no benchmark was found"
    expected = f"one of {', '.join(known)}, or a path" if known else "a benchmark id or a path"
    problem = Problem(where="benchmark", key="name", expected=expected, found=name, hint=hint)
    msg = f"there is no benchmark {name}"
    return CatalogError(msg, problems=(problem, *broken))


def about(document: Document) -> BenchmarkReading:
    """Read what a benchmark that names a loader says of itself: all but its tasks, for which it needs data.

    Raises:
        CatalogError: as for `read_benchmark`.
    """
    probed, notices = with_probe(document), Notices(document.where)
    of_each_task = _problems(probed, Notices(document.where))
    problems = (*own_problems(document), *of_defaults(of_each_task))
    if problems:
        _refuse(document, problems)
    tuple(_strange_keys(probed, notices))
    return BenchmarkReading(
        benchmark=_benchmark(probed, (), notices), notices=notices.texts, remarks=notices.remarks
    )


def _either(document: Document, data: Path | None) -> BenchmarkReading:
    if names_loader(document.value):
        return _loaded(document, data)
    if data is not None:
        problem = Problem(
            where=document.where,
            key="data",
            expected="a benchmark that names a loader",
            found="one with tasks of its own",
            hint="leave the data file out",
        )
        _refuse(document, (problem,))
    return _reading(document)


def _loaded(document: Document, data: Path | None) -> BenchmarkReading:
    described = about(document)
    loaded = load(document, data)
    # What is to be said about the benchmark itself has been said.
    known = {
        key: item for key, item in loaded.document.value.items() if key in schema("benchmark")["properties"]
    }
    whole = dataclasses.replace(loaded.document, value={**_optional(known), **known})
    reading = _reading(whole, is_loaded=True)
    return dataclasses.replace(
        reading,
        notices=(*described.notices, *loaded.notices, *reading.notices),
        remarks=(*described.remarks, *loaded.notices, *reading.remarks),
    )


def _reading(document: Document, *, is_loaded: bool = False) -> BenchmarkReading:
    notices = Notices(document.where)
    problems = _problems(document, notices)
    if problems:
        _refuse(document, problems)
    if not is_loaded:  # a loader says itself which answers are withheld
        note_unanswered(document.value["tasks"], notices=notices)
    tasks = build_tasks(document.value["tasks"], notices=notices)
    benchmark = _benchmark(document, tasks, notices)
    return BenchmarkReading(benchmark=benchmark, notices=notices.texts, remarks=notices.remarks)


def _problems(document: Document, notices: Notices) -> tuple[Problem, ...]:
    value, where = document.value, document.where
    misspelt = list(_strange_keys(document, notices))
    if isinstance(value.get("tasks"), list):
        misspelt += key_problems(value["tasks"], where=where, notices=notices)
    broken = violations(value, name="benchmark", where=where)
    return (*misspelt, *(broken or _rule_problems(document)))


def _strange_keys(document: Document, notices: Notices) -> Iterator[Problem]:
    return strange_keys(document.value, schema("benchmark")["properties"], "", document.where, notices)


def _rule_problems(document: Document) -> tuple[Problem, ...]:
    value, where = document.value, document.where
    found = task_problems(value["tasks"], where=where, folder=document.path.parent)
    if "k" in value and value.get("scoringMethod") != "pass_at_k":
        expected = "k only with the scoringMethod pass_at_k"
        found += (Problem(where=where, key="k", expected=expected, found="it with another one"),)
    return found


def _optional(value: Mapping[str, Any]) -> dict[str, str]:
    return {"name": value["id"], "domain": "general", "scoringMethod": "mean"}


def _benchmark(document: Document, tasks: tuple[Task, ...], notices: Notices) -> Benchmark:
    optional = _optional(document.value)
    for key, default in optional.items():
        if key not in document.value:
            notices.filled_in(key, default)
    value: dict[str, Any] = {**optional, **document.value}
    description = {"description": value["description"]} if "description" in value else {}
    limit = value.get("maxLatencyMs")
    return Benchmark(
        id=value["id"],
        version=value["version"],
        name=value["name"],
        tasks=tasks,
        source=document.path,
        digest=whole_digest(document.digest, tasks, document.path.parent),
        domain=value["domain"],
        scoring_method=value["scoringMethod"],
        k=int(value.get("k", 1)),
        max_latency_ms=None if limit is None else float(limit),
        metadata={**description, **value.get("metadata", {})},
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
