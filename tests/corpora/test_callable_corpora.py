"""Real files from public repositories, held against the verdicts of their index.

Run with `SKILLEVAL_CORPORA=<folder> pytest -m corpora`. The files are read, never run.
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.catalog.benchmarks import BenchmarkReading, read_tasks
from skilleval.catalog.skill_json import read_skill
from skilleval.errors import CatalogError

pytestmark = pytest.mark.corpora

Row = dict[str, str]
FOUND = {
    "an evals file": "not-a-manifest",
    "an object with": "not-a-manifest",
    "a rubric of another tool": "other-vendor",
    "a result file": "result-file",
    "an empty file": "empty",
}


@pytest.fixture(scope="module")
def corpora() -> Path:
    """The folder of the corpora; asking for these tests without it is a failure."""
    folder = os.environ.get("SKILLEVAL_CORPORA")
    if not folder:
        pytest.fail("set SKILLEVAL_CORPORA to the folder of the corpora, or leave out -m corpora")
    return Path(folder)


def rows_of(folder: Path) -> list[Row]:
    """Read the index of a corpus: tabs between fields, no quoting."""
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def verdict_of_refusal(error: CatalogError) -> str:
    """Name the verdict that a refused file was given."""
    (problem,) = error.problems
    if problem.key.startswith("line "):
        return "unparsable"
    return next(verdict for start, verdict in FOUND.items() if problem.found.startswith(start))


def verdict_of_reading(reading: BenchmarkReading) -> str:
    """Name the verdict that a benchmark was given, by what its reader said."""
    if any(": filled in: " in notice for notice in reading.notices):
        return "valid-with-defaults"
    return "valid-with-alias" if any(": alias: " in notice for notice in reading.notices) else "valid"


def verdict(read: Callable[[Path], object], path: Path) -> tuple[str, int]:
    """Read a file and give the verdict and the number of its tasks."""
    try:
        reading = read(path)
    except CatalogError as error:
        return verdict_of_refusal(error), 0
    if isinstance(reading, BenchmarkReading):
        return verdict_of_reading(reading), len(reading.benchmark.tasks)
    return "valid", 0


@pytest.mark.parametrize("folder", ["skill_json", "benchmark_json"])
def test_the_corpus_is_the_one_of_the_index(folder: str, corpora: Path) -> None:
    """Each file has the bytes that its verdict was given for."""
    rows = rows_of(corpora / folder)
    assert len(rows) == 8
    for row in rows:
        assert hashlib.sha256((corpora / folder / row["file"]).read_bytes()).hexdigest() == row["sha256"]


@pytest.mark.parametrize(("folder", "read"), [("skill_json", read_skill), ("benchmark_json", read_tasks)])
def test_each_file_gets_its_verdict(folder: str, read: Callable[[Path], object], corpora: Path) -> None:
    """Valid files are read, aliases and defaults are said, and every stranger is named by its shape."""
    rows = rows_of(corpora / folder)
    found = {row["file"]: verdict(read, corpora / folder / row["file"])[0] for row in rows}
    assert found == {row["file"]: row["expected"] for row in rows}


def test_each_benchmark_has_its_number_of_tasks(corpora: Path) -> None:
    """No task of a readable benchmark is lost, and none is made of a file of another kind."""
    rows = rows_of(corpora / "benchmark_json")
    found = {row["file"]: verdict(read_tasks, corpora / "benchmark_json" / row["file"]) for row in rows}
    readable = {row["file"]: row for row in rows if row["expected"].startswith("valid")}
    assert len(readable) == 6
    assert {name: found[name][1] for name in readable} == {
        name: int(row["n_tasks"]) for name, row in readable.items()
    }


def test_a_comment_is_reported_with_its_line(corpora: Path) -> None:
    """The manifest with comments is refused at the line its index names."""
    (row,) = (row for row in rows_of(corpora / "skill_json") if row["expected"] == "unparsable")
    with pytest.raises(CatalogError) as caught:
        read_skill(corpora / "skill_json" / row["file"])
    assert "error at line 5" in row["detail"]
    assert caught.value.problems[0].key.startswith("line 5,")
