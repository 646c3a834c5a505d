from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli.conftest import Run
from small_skills import said, write_skill, write_tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Three skills, evaluated on two tasks: right, half right, wrong."""

    skills: Path
    store: Path
    tasks: Path


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Write the skills and evaluate them once."""
    root = tmp_path_factory.mktemp("selecting")
    skills = root / "skills"
    write_skill(skills, "right", tags=["good"])
    half = write_skill(skills, "half")
    (half / "skill.py").write_text(
        "import json, os, sys\n"
        "request = json.load(sys.stdin)\n"
        "result = 1 if int(os.environ['SKILLEVAL_REPEAT']) else 2\n"
        "print(json.dumps({'jsonrpc': '2.0', 'id': request['id'], 'result': result}))\n"
    )
    write_skill(skills, "wrong", answer=2)
    tasks, store = write_tasks(root / "tasks.json"), root / "runs"
    done = said("eval", skills, "--tasks", tasks, "--runs", "2", "--output-dir", store, "--json")
    assert done.code == 0, done.err
    return Project(skills=skills, store=store, tasks=tasks)


def test_skills_are_selected_from_stored_runs_and_can_be_evaluated_again(
    run: Run, folder: Path, project: Project
) -> None:
    """Rates, ranks and reasons are told; the written paths are what eval takes."""
    done = run(
        "select", "--from", project.skills, "--store", project.store, "--min-completion", "0.5",
        "--output", "out/selected.txt", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    rows = [(row["skill_id"], row["completion_rate"], row["rank"]) for row in done.document["skills"]]
    assert rows == [("right", 1.0, 1), ("half", 0.5, 2), ("wrong", 0.0, None)]
    assert done.document["skills"][2]["reasons"] == ["completion_rate 0.0 is below 0.5"]
    paths = (folder / "out" / "selected.txt").read_text().splitlines()
    assert paths == [str(project.skills / name / "skill.json") for name in ("right", "half")]
    again = said("eval", "--skills", *paths, "--tasks", project.tasks, "--dry-run", "--json")
    assert again.document["skills"] == ["right 1.0.0", "half 1.0.0"]


def test_json_reports_say_the_same_as_the_store(project: Project) -> None:
    """--reports reads the report of the run instead of its tables."""
    select = ["select", "--from", project.skills, "--json"]
    by_store = said(*select, "--store", project.store).document
    by_report = said(*select, "--reports", project.store).document
    assert by_report == by_store
    assert by_store["benchmark"] == "custom@0.0.0"


def test_a_strategy_file_filters_and_orders(project: Project, tmp_path: Path) -> None:
    """It holds for what the command line leaves open."""
    strategy = tmp_path / "strategy.yaml"
    strategy.write_text("filters: {minCompletionRate: 0.5}\nsortBy: completionRate\norder: asc\ntopK: 1\n")
    select = ["select", "--from", project.skills, "--store", project.store, "--strategy", strategy]
    done = said(*select)
    assert done.code == 0
    assert done.out.splitlines()[0] == "on custom@0.0.0, judged by task"
    assert [line.split("\t")[:2] for line in done.out.splitlines()[2:]] == [
        ["1", "half"],
        ["–", "right"],
        ["–", "wrong"],
    ]
    both = said(*select, "--top-k", "0", "--json")
    assert [row["skill_id"] for row in both.document["skills"] if row["selected"]] == ["half", "right"]


def test_nothing_selected_exits_4_and_says_which_filter_removed_what(
    project: Project, tmp_path: Path
) -> None:
    """No file is written then."""
    strategy = tmp_path / "strategy.json"
    strategy.write_text(json.dumps({"filters": {"minCompletionRate": 0.6, "requiredTags": ["none-such"]}}))
    output = tmp_path / "selected.txt"
    select = [
        "select",
        "--from",
        project.skills,
        "--store",
        project.store,
        "--strategy",
        strategy,
        "--output",
        output,
    ]
    done = said(*select)
    assert done.code == 4
    assert "minCompletionRate: 2 of 3" in done.out
    assert "requiredTags: 3 of 3" in done.out
    assert not output.exists()
    assert said(*select, "--json").document["removed"] == {"minCompletionRate": 2, "requiredTags": 3}


def test_a_store_without_runs_selects_nothing(project: Project, tmp_path: Path) -> None:
    """Each skill is left out because nothing is known of it."""
    done = said("select", "--from", project.skills, "--store", tmp_path, "--json")
    assert done.code == 4
    assert done.document["removed"] == {"evaluated": 3}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--from", "nowhere"],
        ["--store", "nowhere"],
        ["--reports", "nowhere"],
        ["--reports", ".", "--store", "."],
        ["--min-completion", "nan"],
        ["--top-k", "-1"],
        ["--benchmark", "none-such"],
        ["--scorer", "none-such"],
        ["--strategy", "nowhere.yaml"],
    ],
)
def test_impossible_wishes_exit_2(project: Project, arguments: list[str]) -> None:
    """What is not there and what cannot be is named before anything is selected."""
    store = [] if {"--store", "--reports"} & {*arguments} else ["--store", str(project.store)]
    done = said("select", "--from", project.skills, *store, *arguments)
    assert done.code == 2, done.out
    assert done.out == ""


def test_a_run_by_another_scorer_and_a_replay_do_not_change_the_ranking(
    project: Project, tmp_path: Path
) -> None:
    """The newest run is not the one that counts where another scorer judged it or nothing ran."""
    store = tmp_path / "runs"
    shutil.copytree(project.store, store)
    (recorded,) = store.iterdir()
    select = ("select", "--from", project.skills, "--store", store)
    before = said(*select, "--json").document
    tasks = ("--tasks", project.tasks, "--output-dir", store, "--json")
    lenient = ("scorer=numeric", "scorers.numeric.tolerance=5")
    assert said("eval", project.skills / "wrong", *tasks, *lenient).code == 0
    replay = ("adapter=replay", f"adapter.path={recorded}", "--runs", "2")
    assert said("eval", project.skills / "right", *tasks, *replay).code == 0
    after = said(*select, "--json")
    assert after.document == {**before, "other_scorers": ["numeric"]}
    assert "recorded attempts were replayed" in after.err
    assert "also judged by numeric: --scorer NAME ranks by another" in said(*select).out
    by_numeric = said(*select, "--scorer", "numeric").out
    assert by_numeric.startswith("on custom@0.0.0, judged by numeric\n")
    assert "judged by task, not by numeric" in by_numeric


def test_a_run_that_was_cut_short_does_not_count(project: Project, tmp_path: Path) -> None:
    """Its figures cover only part of the tasks, and the reader is told."""
    (folder,) = project.store.iterdir()
    cut = tmp_path / folder.name
    cut.mkdir()
    manifest = json.loads((folder / "manifest.json").read_text())
    (cut / "manifest.json").write_text(json.dumps({**manifest, "interrupted": True}))
    done = said("select", "--from", project.skills, "--store", tmp_path, "--json")
    assert done.code == 4
    assert "did not come to its end" in done.err


def test_a_selection_is_a_skill_set_that_eval_runs(run: Run, folder: Path, project: Project) -> None:
    """The written file is chosen by its name, and exactly the selected skills are evaluated."""
    output = "conf/skill_set/best.yaml"
    done = run(
        "select", "--from", project.skills, "--store", project.store, "--min-completion", "0.5",
        "--output", output,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "next: skilleval eval skill_set=best" in done.out
    text = (folder / output).read_text()
    assert text.startswith("# Selected by skilleval select, on custom@0.0.0, judged by task")
    again = run("eval", "skill_set=best", "--tasks", project.tasks, "--json")
    assert again.code == 0, again.err
    assert {row["skill_id"] for row in again.document["summary"]} == {"right", "half"}


def test_a_single_skill_file_can_be_selected_from(project: Project) -> None:
    """--from takes a skill.json as well as a folder."""
    one = project.skills / "right" / "skill.json"
    done = said("select", "--from", one, "--store", project.store, "--json")
    assert [row["skill_id"] for row in done.document["skills"]] == ["right"]


def test_how_sure_the_order_is_and_who_is_on_the_front_is_shown(project: Project, tmp_path: Path) -> None:
    """Chances of ranks, merit and the front stand beside the figures; ties are marked."""
    strategy = tmp_path / "strategy.yaml"
    strategy.write_text("weights: {completion_rate: 1}\nlimits: {completion_rate: {max: 0.9}}\n")
    select = ["select", "--from", project.skills, "--store", project.store]
    plain = said(*select, "--json").document
    assert [row["p_best"] for row in plain["skills"]] == [1.0, 0.0, 0.0]
    assert [row["rank_low"] for row in plain["skills"]] == [1, 2, 3]
    assert plain["skills"][0]["on_front"] is True
    weighed = said(*select, "--strategy", strategy, "--json").document
    assert [(row["skill_id"], row["merit"]) for row in weighed["skills"]] == [
        ("half", 0.5),
        ("wrong", 0.0),
        ("right", None),
    ]
    assert weighed["skills"][2]["reasons"] == ["completion_rate 1.0 is above 0.9"]
    assert weighed["strategy"]["weights"] == {"completion_rate": 1}
    assert "merit 0.5" in said(*select, "--strategy", strategy).out


def test_skills_that_do_the_same_share_a_place(project: Project, tmp_path: Path) -> None:
    """An equals sign says that only the name decided who stands above."""
    write_skill(tmp_path / "skills", "twin")
    write_skill(tmp_path / "skills", "right", tags=["good"])
    store = tmp_path / "runs"
    said("eval", tmp_path / "skills", "--tasks", project.tasks, "--output-dir", store, "--json")
    out = said("select", "--from", tmp_path / "skills", "--store", store, "--top-k", "1").out
    rows = [line.split("\t") for line in out.splitlines()[2:]]
    assert sorted(row[1] for row in rows) == ["right", "twin"]
    assert rows[0][0] == "1="
    assert "rank 2 is beyond the first 1, though level with the last of them" in rows[1][-1]
