from __future__ import annotations

from pathlib import Path

import pytest
from cli.conftest import Run
from small_skills import said, write_skill, write_tasks


@pytest.fixture
def tasks(folder: Path) -> Path:
    """Write two adders, one of them wrong, a reverser, and tasks."""
    skills = folder / "skills"
    write_skill(skills, "adder", description="Adds numbers")
    write_skill(skills, "bad-adder", answer=2, description="Adds numbers wrongly")
    write_skill(skills, "reverser", description="Reverses texts")
    return write_tasks(folder / "tasks.json")


def test_find_evaluate_select_report_in_one_command(run: Run, folder: Path, tasks: Path) -> None:
    """Each step is told, and the report is that of the run."""
    done = run("run", "-q", "adds numbers", "--tasks", tasks, "--runs", "2")
    assert done.code == 0, done.err
    steps = [line for line in done.out.splitlines() if line[:1].isdigit() and line[1:2] == " "]
    assert steps == [
        "1 find: adder, bad-adder",
        "2 evaluate: 2 tasks of custom@0.0.0",
        "3 select: adder",
        "4 report:",
    ]
    assert "completion_rate 0.0 is below 0.7" in done.out
    (report,) = (folder / "outputs" / "default").glob("*/report.json")
    assert str(report.relative_to(folder)) in done.out


def test_the_document_holds_what_was_found_evaluated_and_selected(folder: Path, tasks: Path) -> None:
    """One JSON document; an infrastructure error would win over the selection."""
    done = said(
        "run", "--skills-dir", folder / "skills", "--tasks", tasks, "--output-dir", folder / "runs", "--top-k", "1",
        "--min-completion", "0.5", "runner.repeats=2", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert [hit["id"] for hit in done.document["found"]["hits"]] == ["adder", "bad-adder", "reverser"]
    assert done.document["statuses"] == {"completed": 12}
    first, second, third = done.document["selection"]["skills"]
    assert {first["skill_id"], second["skill_id"]} == {"adder", "reverser"}
    assert [row["removed_by"] for row in (first, second, third)] == [[], ["topK"], ["minCompletionRate"]]
    assert {row["run_id"] for row in done.document["selection"]["skills"]} == {done.document["run_id"]}


@pytest.mark.parametrize(
    ("arguments", "code", "said_out"),
    [
        (["-q", "zebra"], 4, "1 find: nothing"),
        (["-q", "wrongly"], 1, "minCompletionRate: 1 of 1"),
        (["adapter=replay", "adapter.path=empty.jsonl"], 3, "3 select: nothing"),
    ],
)
def test_the_exit_code_says_where_it_ended(
    folder: Path, tasks: Path, arguments: list[str], code: int, said_out: str
) -> None:
    """4 nothing found, 1 nothing selected, 3 nothing could be called."""
    (folder / "empty.jsonl").write_text("")
    whole = [one.replace("empty.jsonl", str(folder / "empty.jsonl")) for one in arguments]
    paths = ["--skills-dir", folder / "skills", "--output-dir", folder / "runs"]
    done = said("run", *paths, "--tasks", tasks, *whole)
    assert done.code == code, done.err
    assert said_out in done.out


def test_a_strategy_takes_the_place_of_the_usual_threshold(folder: Path, tasks: Path) -> None:
    """Without a filter in the file everybody is selected, up to the number asked for."""
    strategy = folder / "strategy.yaml"
    strategy.write_text("sortBy: completionRate\norder: asc\n")
    paths = ["--skills-dir", folder / "skills", "--output-dir", folder / "runs", "--tasks", tasks]
    done = said("run", *paths, "--strategy", strategy, "--top-k", "2", "--json")
    assert done.code == 0, done.err
    rows = done.document["selection"]["skills"]
    assert [row["completion_rate"] for row in rows] == [0.0, 1.0, 1.0]
    assert [row["selected"] for row in rows] == [True, True, False]


@pytest.mark.parametrize(
    "arguments",
    [["--top-k", "-1"], ["--min-completion", "nan"], ["--skills-dir", "nowhere"], ["--runs", "0"], ["stray"]],
)
def test_impossible_wishes_exit_2_and_write_nothing(folder: Path, tasks: Path, arguments: list[str]) -> None:
    """Nothing is evaluated before all of it is known to be possible."""
    paths = ["--skills-dir", folder / "skills", "--output-dir", folder / "runs", "--tasks", tasks]
    done = said("run", *paths, *arguments)
    assert done.code == 2, done.out
    assert not (folder / "runs").exists()
