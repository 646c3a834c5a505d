from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.benchmarks import BenchmarkReading, read_benchmark
from skilleval.domain.tasks import Evaluator
from skilleval.errors import Problem

Loaded = Callable[..., BenchmarkReading]
ProblemsOf = Callable[[Callable[[], object]], tuple[Problem, ...]]


def row(**changes: Any) -> dict[str, Any]:
    """Give a row of the metadata; keys given as `...` are left out."""
    whole = {
        "task_id": "t-1",
        "Question": "How many minutes?",
        "Level": 1,
        "Final answer": "85",
        "file_name": "",
        "Annotator Metadata": {"Steps": "1. Subtract: 85", "Number of steps": "1"},
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def test_a_row_becomes_a_task(loaded: Loaded) -> None:
    """The question is the input, the answer is expected, the level is a tag."""
    (task,) = loaded("gaia", row()).benchmark.tasks
    assert (task.id, task.input) == ("t-1", {"question": "How many minutes?"})
    assert (task.expected, task.tags, task.evaluator) == ({"value": "85"}, ("level-1",), None)


def test_the_steps_of_the_annotator_never_reach_the_skill(loaded: Loaded) -> None:
    """What gives the answer away is no part of the task."""
    (task,) = loaded("gaia", row()).benchmark.tasks
    assert "Subtract" not in str(task)


@pytest.mark.parametrize(("level", "tag"), [(1, "level-1"), ("2", "level-2"), (3, "level-3")])
def test_a_level_is_a_number_or_a_text(level: object, tag: str, loaded: Loaded) -> None:
    """Both ways of writing the level give the same tag."""
    assert loaded("gaia", row(Level=level)).benchmark.tasks[0].tags == (tag,)


@pytest.mark.parametrize(("answer", "text"), [(85, "85"), (0.5, "0.5"), ("0", "0")])
def test_an_answer_is_kept_as_text(answer: object, text: str, loaded: Loaded) -> None:
    """An answer that a converter made a number of is the text that it was."""
    assert loaded("gaia", row(**{"Final answer": answer})).benchmark.tasks[0].expected == {"value": text}


def test_a_withheld_answer_leaves_nothing_to_check(loaded: Loaded) -> None:
    """The "?" of the test split is not an answer: the task is ungraded by every scorer, and a notice says so."""
    rows = [row(), *(row(task_id=f"t-{number}", **{"Final answer": "?"}) for number in (2, 3))]
    reading = loaded("gaia", *rows)
    tasks = reading.benchmark.tasks
    assert [task.expected for task in tasks] == [{"value": "85"}, {}, {}]
    assert tasks[1].evaluator == Evaluator(kind="exact")
    (notice,) = reading.notices
    assert notice.endswith(
        "tasks[1] (and 1 more): the answer is not public, so that the task is going to be ungraded"
    )


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"task_id": ""}, "task_id"),
        ({"task_id": 3}, "task_id"),
        ({"Question": ...}, "Question"),
        ({"Level": 4}, "Level"),
        ({"Level": None}, "Level"),
        ({"Level": True}, "Level"),
        ({"Level": [1]}, "Level"),
        ({"Final answer": ...}, "Final answer"),
        ({"Final answer": None}, "Final answer"),
        ({"Final answer": True}, "Final answer"),
        ({"file_name": 3}, "file_name"),
        ({"file_name": ["a"]}, "file_name"),
    ],
)
def test_a_row_that_cannot_be_used_is_said_with_its_line(
    changes: dict[str, Any], key: str, loaded: Loaded, problems_of: ProblemsOf
) -> None:
    """Each mistake is one problem with the line and the key, before anything is called."""
    (problem,) = problems_of(lambda: loaded("gaia", row(), row(**{"task_id": "t-2", **changes})))
    assert problem.key == f"line 2: {key}"
    assert Path(problem.where).name == "metadata.jsonl"


def test_one_id_twice_is_refused(loaded: Loaded, problems_of: ProblemsOf) -> None:
    """The rules of every benchmark hold for loaded tasks too."""
    (problem,) = problems_of(lambda: loaded("gaia", row(), row()))
    assert problem.key == "tasks[1].id"


@pytest.mark.parametrize(
    ("place", "file_path"),
    [
        ("data/sheet.xlsx", None),
        ("data/2023/validation/sheet.xlsx", "2023/validation/sheet.xlsx"),
        ("files/sheet.xlsx", "files/sheet.xlsx"),
    ],
)
def test_an_attachment_is_found_where_the_data_set_puts_it(
    place: str, file_path: str | None, loaded: Loaded, tmp_path: Path
) -> None:
    """It stands beside the data, below it by its path, or by its path from the root of the data set."""
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"cells")
    extra = {} if file_path is None else {"file_path": file_path}
    (task,) = loaded("gaia", row(file_name="sheet.xlsx", **extra)).benchmark.tasks
    assert task.input["file"] == {
        "name": "sheet.xlsx",
        "path": str(file),
        "sha256": hashlib.sha256(b"cells").hexdigest(),
    }


def test_every_missing_attachment_is_reported(loaded: Loaded, problems_of: ProblemsOf) -> None:
    """All of them are named at once, before any call."""
    names = ["1.pdf", "2.pdf", "x" * 300]
    rows = [row(task_id=name, file_name=name) for name in names]
    problems = problems_of(lambda: loaded("gaia", *rows))
    assert [problem.key for problem in problems] == [f"line {line}: file_name" for line in (1, 2, 3)]
    assert problems[1].expected == "2.pdf beside the data file"


@pytest.mark.parametrize(
    "changes",
    [
        {"file_name": "../secret"},
        {"file_name": "/etc/hostname"},
        {"file_name": "a.txt", "file_path": "../../secret"},
    ],
)
def test_an_attachment_cannot_be_any_file_of_this_machine(
    changes: dict[str, Any], loaded: Loaded, problems_of: ProblemsOf, tmp_path: Path
) -> None:
    """A name that leads out of the folder of the data is refused, whether or not there is a file."""
    (tmp_path / "secret").write_text("key")
    (problem,) = problems_of(lambda: loaded("gaia", row(**changes)))
    assert problem.expected == "a file below the folder of the data file"


def test_another_attachment_makes_another_benchmark(
    descriptor: Callable[..., Path], lines: Callable[..., Path]
) -> None:
    """A file that goes with a GAIA task is hashed into the digest, as the data file itself is."""
    data = lines([row(file_name="table.csv")])
    digests = []
    for text in ("a,b", "a,c", "a,b"):
        (data.parent / "table.csv").write_text(text)
        digests.append(read_benchmark(descriptor(), data=data).benchmark.digest)
    assert digests[0] == digests[2] != digests[1]
