"""`skilleval benchmark`, and the benchmarks that come with skilleval, as a user runs it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cases import case_input
from cli.conftest import EXAMPLES, ROOT, Run

ROW = {"task_id": "t-1", "Question": "How many?", "Level": "1", "Final answer": "85", "file_name": ""}


def write(folder: Path, name: str, value: object) -> Path:
    """Write a JSON file into the project."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def units(**changes: Any) -> dict[str, Any]:
    """Give a benchmark of one's own."""
    task = {
        "id": "km",
        "description": "km to m",
        "inputData": {"value": 3},
        "expectedOutput": {"value": 3000},
        "evaluator": {"type": "exact"},
        "tags": ["length", "easy"],
        "weight": 2.5,
    }
    return {
        "id": "units",
        "name": "Units",
        "version": "1.2.0",
        "domain": "reasoning",
        "tasks": [task],
        **changes,
    }


def test_the_list_names_shipped_and_own_benchmarks(run: Run, folder: Path) -> None:
    """The project's own come first; each line has id, version, tasks, domain, where from and notes, uncut."""
    own = "benchmarks/a-folder-with-a-rather-long-name-that-no-terminal-would-show-in-one-line/benchmark.json"
    write(folder, own, units())
    done = run("benchmark", "list", "-v")
    assert (done.code, done.err) == (0, "")
    header, first, *others = [line.split("\t") for line in done.out.splitlines()]
    assert header == ["id", "version", "tasks", "domain", "from", "notes"]
    assert first[:5] == ["units", "1.2.0", "1", "reasoning", "benchmarks"]
    assert f"{own}: scoringMethod: filled in: mean" in first[5]
    assert ["coding-easy", "1.0.0", "20", "coding", "shipped", ""] in others
    (gaia,) = (line for line in others if line[0] == "gaia-v1")
    assert (gaia[2], gaia[5]) == (
        "to bring",
        "skilleval benchmark show gaia-v1 says how to bring its tasks",
    )


def test_what_was_filled_in_is_told_with_v_only(run: Run, folder: Path) -> None:
    """Defaults and aliases are nobody's news; an unknown key and a second file of one id are told unasked."""
    path = write(folder, "benchmarks/units/benchmark.json", units(colour="red"))
    write(folder, "benchmarks/units.json", units())
    for command in (["list"], ["show", "units"], ["validate", "units"]):
        quiet, verbose = run("benchmark", *command), run("benchmark", *command, "-v")
        assert "filled in: mean" not in quiet.out
        assert "filled in: mean" in verbose.out
        assert "unknown key colour" in quiet.out
        assert "benchmarks/units.json" in quiet.out
    assert "filled in" in str(run("benchmark", "validate", path, "--json").document[0]["notices"])


def test_validate_takes_what_show_takes(run: Run, folder: Path) -> None:
    """An id is as good as a file; one that nobody knows is answered with the known ones."""
    write(folder, "ours/units.json", units())
    done = run("benchmark", "validate", "coding-easy", "units", "--benchmarks-dir", "ours")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "ok  coding-easy: coding-easy 1.0.0, 20 tasks",
        "ok  units: units 1.2.0, 1 task",
    ]
    unknown = run("benchmark", "validate", "coding-eazy")
    assert unknown.code == 2
    assert "did you mean coding-easy?" in unknown.err


def test_a_task_that_nobody_could_judge_is_refused_before_the_first_trial(run: Run, folder: Path) -> None:
    """A custom scorer that is not there: validate, --dry-run and eval say the same, and nothing runs."""
    judged = {"type": "custom", "customScorerPath": "no-such.py"}
    tasks = [{"id": name, "inputData": {}, "expectedOutput": judged} for name in ("a", "b")]
    write(folder, "tasks.json", [*units()["tasks"], *tasks])
    evaluate = ["eval", EXAMPLES / "calculator", "--tasks", "tasks.json"]
    for command in (["benchmark", "validate", "tasks.json"], [*evaluate, "--dry-run"], evaluate):
        done = run(*command)
        assert done.code == 2
        assert "tasks[2].expectedOutput.customScorerPath: expected a file that is there" in done.err
    assert [path.name for path in folder.iterdir()] == ["tasks.json"]


def test_the_list_as_a_document(run: Run, folder: Path) -> None:
    """--json gives the same facts, and null where the number of tasks is not known."""
    write(folder, "ours/units.json", units())
    listed = run("benchmark", "list", "--benchmarks-dir", "ours", "--json").document
    first, *others = listed["benchmarks"]
    assert (first["id"], first["n_tasks"], first["from"]) == ("units", 1, "ours")
    counts = {one["id"]: one["n_tasks"] for one in others}
    assert (counts["web-search-basic"], counts["gaia-v1"]) == (8, None)
    assert listed["problems"] == []


def test_a_broken_benchmark_is_named_beside_the_others(run: Run, folder: Path) -> None:
    """The list is whole, and stderr says what cannot be read."""
    write(folder, "benchmarks/units.json", units(version=3))
    done = run("benchmark", "list")
    assert done.code == 0
    assert "coding-easy" in done.out
    assert done.err.startswith("warning: not readable: benchmarks/units.json: version")


def test_the_roots_are_those_of_the_settings(run: Run, folder: Path) -> None:
    """A project file that says where benchmarks are is heard."""
    write(folder, "ours/units.json", units())
    (folder / "skilleval.yaml").write_text("benchmark: {roots: [ours]}\n")
    assert [one["id"] for one in run("benchmark", "list", "--json").document["benchmarks"]] == ["units"]


def test_show_says_what_is_asked_and_how_it_is_judged(run: Run, folder: Path) -> None:
    """By id and by path: the benchmark's own words, then a line a task with evaluator, weight, limit and tags."""
    path = write(
        folder, "benchmarks/units/benchmark.json", units(scoringMethod="weighted_mean", maxLatencyMs=50)
    )
    shown = run("benchmark", "show", "units")
    assert shown.code == 0
    assert "units 1.2.0 · Units" in shown.out
    assert "weighted_mean · p95 of 50 ms earns no speed credit" in shown.out
    assert shown.out.splitlines()[-1].split("\t") == ["km", "exact", "2.5", "", "length, easy", "km to m"]
    assert run("benchmark", "show", path).out == shown.out
    document = run("benchmark", "show", "units", "--json").document
    assert (document["n_tasks"], document["tasks"][0]["weight"]) == (1, 2.5)


def test_show_says_how_to_bring_what_is_missing(run: Run, folder: Path) -> None:
    """Without data there is the way to get it, with --data there are the tasks."""
    waiting = run("benchmark", "show", "gaia-v1")
    assert waiting.code == 0
    assert "gaia-benchmark/GAIA on Hugging Face" in waiting.out
    assert run("benchmark", "show", "gaia-v1", "--json").document["n_tasks"] is None
    write(folder, "metadata.jsonl", ROW)
    shown = run("benchmark", "show", "gaia-v1", "--data", "metadata.jsonl")
    assert shown.out.splitlines()[-1].split("\t") == ["t-1", "custom", "1", "600000", "level-1", "level 1"]
    refused = run("benchmark", "show", "coding-easy", "--data", "metadata.jsonl")
    assert refused.code == 2


@pytest.mark.parametrize("name", ["x" * 300, "../../etc"])
def test_an_unknown_benchmark_is_answered_with_the_known_ones(run: Run, name: str) -> None:
    """Whatever is asked for, the ids there are stand in the message."""
    done = run("benchmark", "show", name)
    assert done.code == 2
    assert "coding-easy, gaia-v1" in done.err


def test_validate_gives_every_problem_of_every_file(run: Run, folder: Path) -> None:
    """Right files are said to be right, all mistakes of the others are named, and the exit code is 2."""
    good = write(folder, "good.json", units()["tasks"])
    bad = write(folder, "bad.json", units(domain=3, tasks=[{"id": "a", "inputData": {}}]))
    done = run("benchmark", "validate", good, "worse.json", bad)
    assert done.code == 2
    assert done.out.startswith(f"ok  {good}: custom 0.0.0, 1 task")
    assert "2 of 3 files cannot be used" in done.err
    for words in ("worse.json: expected a file", f"{bad}: domain", f"{bad}: tasks[0].expectedOutput"):
        assert words in done.err
    document = run("benchmark", "validate", good, bad, "--json")
    assert document.code == 2
    assert [one["ok"] for one in document.document] == [True, False]
    assert [problem["key"] for problem in document.document[1]["problems"]] == [
        "domain",
        "tasks[0].expectedOutput",
    ]


def test_validate_is_content_with_what_is_right(run: Run, folder: Path) -> None:
    """Only right files: exit code 0; data is checked where it is given."""
    path = write(folder, "units/benchmark.json", units())
    done = run("benchmark", "validate", path.parent)
    assert (done.code, done.err) == (0, "")
    assert "note: " not in done.out
    mine = write(folder, "mine.json", {"id": "mine", "version": "1.0.0", "loader": "gaia"})
    assert "its tasks are yet to be brought" in run("benchmark", "validate", mine).out
    data = write(folder, "rows.jsonl", {**ROW, "Level": 9})
    assert run("benchmark", "validate", mine, path, "--data", data).code == 2


def test_what_a_file_says_cannot_command_a_terminal(run: Run, folder: Path) -> None:
    """Control characters of a foreign benchmark are spelled out."""
    write(folder, "benchmarks/evil.json", units(id="a\x1b[31m\tb", description="x\x07"))
    for done in (run("benchmark", "list"), run("benchmark", "show", "benchmarks/evil.json")):
        assert "\x1b" not in done.out
        assert "a\\x1b[31m\\tb" in done.out


@pytest.mark.parametrize(
    ("command", "example"),
    [
        ("list", "skilleval benchmark list"),
        ("show", "show coding-easy"),
        ("validate", "validate benchmarks/"),
    ],
)
def test_each_command_shows_an_example(run: Run, command: str, example: str) -> None:
    """--help ends with a line to copy."""
    assert example in run("benchmark", command, "--help").out


@pytest.mark.parametrize(
    ("skill", "benchmark", "n_tasks"),
    [("quality-card", "skill-quality", 5), ("search-notes", "web-search-basic", 8)],
)
def test_an_example_skill_answers_each_shipped_benchmark(
    run: Run, skill: str, benchmark: str, n_tasks: int
) -> None:
    """It passes every task; a skill that was made for something else passes none."""
    skills = (EXAMPLES / skill, EXAMPLES / "calculator")
    done = run("eval", "--skills", *skills, "--benchmark", benchmark, "--format", "json", "--json")
    found = {row["skill_id"]: (row["n_trials"], row["completion_rate"]) for row in done.document["summary"]}
    assert found == {skill: (n_tasks, 1.0), "calculator": (n_tasks, 0.0)}


def test_brought_questions_are_asked_and_judged(run: Run, folder: Path) -> None:
    """A benchmark of one's own that names loader, data and judge: right, wrong and ungraded answers are told apart."""
    about = {"id": "mine", "version": "1.0.0", "loader": "gaia", "data": "metadata.jsonl"}
    judge = {"evaluator": {"type": "custom", "customScorerPath": "score.py"}}
    write(folder, "benchmarks/mine/benchmark.json", {**about, "taskDefaults": judge})
    shutil.copyfile(ROOT / "benchmarks" / "gaia-v1" / "score.py", folder / "benchmarks" / "mine" / "score.py")
    answers = {"right": "$85.0", "wrong": "85 minutes", "withheld": "85"}
    rows = [{**ROW, "task_id": name, "Final answer": "?" if name == "withheld" else "85"} for name in answers]
    (folder / "benchmarks" / "mine" / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)))
    write(folder, "skill/skill.json", json.loads((EXAMPLES / "calculator" / "skill.json").read_text()))
    lines = [json.dumps({"task_id": name, "output": answer}) for name, answer in answers.items()]
    (folder / "recorded.jsonl").write_text("\n".join(lines))
    replay = ("adapter=replay", "adapter.path=recorded.jsonl")
    done = run("eval", "--skills", "skill", "--benchmark", "mine", "--format", "json", "--json", *replay)
    (row,) = done.document["summary"]
    assert (row["n_trials"], row["n_passed"], row["n_graded"]) == (3, 1, 2)


def test_c50_ids_lead_nowhere(run: Run, folder: Path) -> None:
    """Task ids that look like paths, options or devices give one row each, and nothing outside the output folder."""
    ids = case_input("C50")["ids"]
    tasks = [{"id": name, "inputData": {"text": "a"}, "expectedOutput": {"value": 1}} for name in ids]
    write(folder, "tasks.json", tasks)
    write(folder, "skill/skill.json", json.loads((EXAMPLES / "calculator" / "skill.json").read_text()))
    lines = [json.dumps({"task_id": name, "output": 1}) for name in ids]
    (folder / "recorded.jsonl").write_text("\n".join(lines))
    before = {path for path in folder.parent.rglob("*") if folder / "out" not in path.parents}
    replay = ("adapter=replay", "adapter.path=recorded.jsonl")
    formats = ("--format", "json", "markdown")
    done = run(
        "eval",
        "--skills",
        "skill",
        "--tasks",
        "tasks.json",
        "--output-dir",
        "out",
        *formats,
        "--json",
        *replay,
    )
    assert done.code == 0, done.err
    assert [row["n_passed"] for row in done.document["summary"]] == [7]
    after = {path for path in folder.parent.rglob("*") if folder / "out" not in path.parents}
    assert after - before == {folder / "out"}
    assert not any(name in str(path) for path in (folder / "out").rglob("*") for name in ids)
