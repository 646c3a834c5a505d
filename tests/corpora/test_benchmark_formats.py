"""Made-up files in the formats of public benchmarks: their traps are real.

Run with `SKILLEVAL_CORPORA=<folder> pytest -m corpora`.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from skilleval.catalog.benchmarks import read_benchmark
from skilleval.errors import CatalogError

pytestmark = pytest.mark.corpora

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ATTACHMENT = "syn-0002.xlsx"


@pytest.fixture
def formats(tmp_path: Path) -> Path:
    """Give a copy of the examples that may be added to."""
    folder = os.environ.get("SKILLEVAL_CORPORA")
    if not folder:
        pytest.fail("set SKILLEVAL_CORPORA to the folder of the corpora, or leave out -m corpora")
    copy = tmp_path / "formats"
    copy.mkdir()
    for name in ("gaia.jsonl", "toolbench_query.json"):
        shutil.copyfile(Path(folder) / "formats" / name, copy / name)
    return copy


def test_gaia_names_the_missing_attachment(formats: Path) -> None:
    """A question whose file is missing is reported with its line before anything is called."""
    with pytest.raises(CatalogError) as caught:
        read_benchmark(BENCHMARKS / "gaia-v1", data=formats / "gaia.jsonl")
    (problem,) = caught.value.problems
    assert (problem.key, problem.expected) == ("line 2: file_name", f"{ATTACHMENT} beside the data file")


@pytest.mark.parametrize("place", [ATTACHMENT, f"2023/validation/{ATTACHMENT}"])
def test_gaia_is_read_with_its_traps(place: str, formats: Path) -> None:
    """Levels as number and text, an attachment, an empty annotation and a withheld answer are all understood."""
    file = formats / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"cells")
    reading = read_benchmark(BENCHMARKS / "gaia-v1", data=formats / "gaia.jsonl")
    tasks = reading.benchmark.tasks
    assert [(task.id, task.tags) for task in tasks] == [
        ("syn-0001", ("level-1",)),
        ("syn-0002", ("level-2",)),
        ("syn-0003", ("level-3",)),
    ]
    expected = [{"value": "85"}, {"value": "Cobalt, Ochre, Umber"}, {}]
    assert [task.expected for task in tasks] == expected
    assert tasks[1].input["file"]["path"] == str(file)
    assert [notice.split(": ")[1] for notice in reading.notices] == ["tasks[2]"]


def test_toolbench_is_read(formats: Path) -> None:
    """The number of the query is the id, and the key with a space in it holds what is expected."""
    reading = read_benchmark(BENCHMARKS / "toolbench-lite", data=formats / "toolbench_query.json")
    (task,) = reading.benchmark.tasks
    assert (task.id, task.tags, reading.notices) == ("1", ("weather",), ())
    assert task.expected == {"value": [["TideNow", "tide_by_port"]]}
    assert task.input["api_list"][0]["api_name"] == "tide_by_port"
