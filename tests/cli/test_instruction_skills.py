"""Instruction skills from the command line, on a real server: arms, resume without paying twice, budgets, events."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cli.conftest import SCRIPT, Done, Run
from model_servers import ModelServer, model_server

RULES = [
    {"when": "alpha", "with_system": "greek", "reply": "ALPHA it is, tokens spent"},
    {"when": "beta", "with_system": "greek", "reply": "BETA it is"},
    {"when": "alpha|beta", "reply": "no idea"},
]
SKILL = """---
name: greek
description: Shouts Greek letters. Use when a letter is named.
---
Say the letter in capitals.
"""
EVALS = {
    "skill_name": "greek",
    "evals": [
        {"id": 0, "prompt": "say alpha", "assertions": ['Says "ALPHA"']},
        {
            "id": "b",
            "prompt": "say beta",
            "assertions": ['Says "BETA"', 'Says that it "is"'],
        },
    ],
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ModelServer]:
    """Give a server that logs each call it is paid for."""
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps(RULES))
    with model_server(tmp_path, "--rules", str(rules)) as started:
        yield started


@pytest.fixture(autouse=True)
def skills(folder: Path) -> Path:
    """Give a folder with one instruction skill and its evals."""
    made = folder / "skills" / "greek"
    (made / "evals").mkdir(parents=True)
    (made / "SKILL.md").write_text(SKILL)
    (made / "evals" / "evals.json").write_text(json.dumps(EVALS))
    return folder / "skills"


def arguments(server: ModelServer, *more: str, judge: str = "scripted") -> list[str]:
    """Give the arguments that evaluate the skills on the server."""
    return [
        "eval",
        "./skills",
        "--target",
        "scripted",
        "--judge",
        judge,
        "--base-url",
        server.base_url,
        *_NO_KEY,
        *more,
    ]


_NO_KEY = ("--api-key-env", "")


def rows(done: Done, table: str) -> pl.DataFrame:
    """Read a table of the run that a command wrote."""
    return pl.read_parquet(done.run_folder() / table / "*.parquet")


def test_a_baseline_shows_what_a_skill_adds(run: Run, server: ModelServer) -> None:
    """Both arms meet the same cases with the same prompt; the report says what the skill adds and costs."""
    done = run(*arguments(server, "--baseline", "--runs", "2", "--json"))
    assert done.code == 0, done.err
    trials = rows(done, "trials")
    by_mode = dict(trials.group_by("mode").agg(pl.col("task_id").sort()).iter_rows())
    cases = ["greek/0", "greek/0", "greek/b", "greek/b"]
    assert by_mode == {"with_skill": cases, "without_skill": cases}
    assert trials.group_by("task_id").agg(pl.col("input").n_unique())["input"].to_list() == [1, 1]
    report = json.loads((done.run_folder() / "report.json").read_text())
    (uplift,) = report["uplift"]
    assert (uplift["skill_id"], uplift["uplift"]) == ("greek", 1.0)
    assert {
        len(json.loads(one)["messages"])
        for one in trials.filter(pl.col("mode") == "without_skill")["request"]
    } == {1}
    assert (
        "Says the letter"
        not in trials.filter(pl.col("mode") == "without_skill")["request"].str.join("").item()
    )


def test_the_files_of_a_run_are_few(run: Run, server: ModelServer) -> None:
    """However many cases: the tables, the manifest, the reports."""
    done = run(
        *arguments(server, "--baseline", "--runs", "3", "--format", "html", "json", "markdown", "--json")
    )
    assert len([path for path in done.run_folder().rglob("*") if path.is_file()]) <= 10


def test_a_killed_run_pays_for_no_call_twice(
    folder: Path,
    environment: Mapping[str, str],
    run: Run,
    tmp_path: Path,
) -> None:
    """Killed while judges are asked: what was answered is judged after the resume, and asked no more."""
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps(RULES))
    slow = ("--rules", str(rules), "--latency-ms", "400")
    with model_server(tmp_path, *slow) as server:
        command = [str(SCRIPT), *arguments(server, "--baseline", "--runs", "3", "--concurrency", "4")]
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 120
        while not _paid(server, "judge") and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.1)
        process.kill()
        process.wait(timeout=120)
        time.sleep(0.6)  # calls that were under way end
        done = run("eval", "--resume", "latest", "--json")
    assert done.code == 0, done.err
    assert rows(done, "trials").height == 12
    assert rows(done, "scores")["verdict"].is_in(["passed", "failed"]).all()
    paid = [(one["digest"], one["seed"]) for one in _paid(server, "subject")]
    assert len(paid) - len(set(paid)) <= 4, "only calls whose answer nobody could keep are made again"


def _paid(server: ModelServer, purpose: str) -> list[dict[str, Any]]:
    return [one for one in server.logged() if one["purpose"] == purpose]


def test_c07_an_outage_of_the_judge_is_no_verdict(run: Run, server: ModelServer) -> None:
    """Its checks are ungraded, the exit code is 3, and a resume asks the judge alone."""
    failing = run(*arguments(server, "model.retries=0", "--json", judge="fault-500"))
    assert failing.code == 3
    scores = rows(failing, "scores")
    assert set(scores["verdict"]) == {"ungraded"}
    assert set(scores["failure_kind"]) == {"judge_error"}
    n_paid = len(_paid(server, "subject"))
    done = run("eval", "--resume", "latest", "judge.name=scripted", "--json")
    told = "its plan is another one now"  # another judge is another plan: that is for `score`
    assert (done.code, told in done.out) == (2, True)
    again = run("score", "latest", "judge.name=scripted", "--json")
    assert again.code == 0, again.err
    assert set(rows(again, "scores")["verdict"]) == {"passed"}
    assert len(_paid(server, "subject")) == n_paid


def test_a_judge_that_is_back_is_asked_again(run: Run, server: ModelServer) -> None:
    """What only lacks its judge is not asked of the subject again."""
    first = run(*arguments(server, "model.retries=0", "--json", judge="fault-flaky-503"))
    assert first.code == 3
    n_paid = len(_paid(server, "subject"))
    done = run("eval", "--resume", "latest", "--json")
    assert done.code == 0, done.err
    assert "2 to judge again" in done.err
    assert set(rows(done, "scores")["verdict"]) == {"passed"}
    assert len(_paid(server, "subject")) == n_paid


def test_a_budget_ends_a_run_that_can_be_gone_on_with(run: Run, server: ModelServer) -> None:
    """Exit code 5, a sentence with what was spent, and a resume with a larger budget does the rest."""
    done = run(*arguments(server, "--runs", "4", "--concurrency", "1", "--budget-tokens", "500", "--json"))
    assert done.code == 5, done.err
    manifest = json.loads((done.run_folder() / "manifest.json").read_text())
    assert manifest["stopped_by"].startswith("budget.tokens: ")
    assert 0 < rows(done, "trials").height < 8
    again = run("eval", "--resume", "latest", "budget.tokens=100000", "--json")
    assert again.code == 0, again.err
    assert rows(again, "trials").height == 8


def test_money_needs_a_price(run: Run, server: ModelServer) -> None:
    """Under a budget in money a model that nobody knows the price of is refused before the first call."""
    done = run(*arguments(server, "--budget-usd", "1"))
    assert (done.code, "a known price of scripted" in done.err) == (2, True)


def test_an_edited_skill_meets_the_stored_baseline(run: Run, skills: Path, server: ModelServer) -> None:
    """`runner.cache=reuse` takes over answers without the skill, and asks anew with it."""
    assert run(*arguments(server, "--baseline")).code == 0
    (skills / "greek" / "SKILL.md").write_text(SKILL + "Loudly.\n")
    before = len(_paid(server, "subject"))
    done = run(*arguments(server, "--baseline", "runner.cache=reuse", "--json"))
    assert done.code == 0, done.err
    reused = dict(
        rows(done, "trials").group_by("mode").agg(pl.col("reused_from").is_not_null().all()).iter_rows()
    )
    assert reused == {"with_skill": False, "without_skill": True}
    assert len(_paid(server, "subject")) - before == 2


def test_events_are_json_lines(run: Run, server: ModelServer, folder: Path) -> None:
    """Each trial begins and ends, suites around them, the run around all; stdout holds the result alone."""
    done = run(*arguments(server, "--log-format", "jsonl", "--log-file", "log/events.jsonl", "--json"))
    events = [json.loads(line) for line in (folder / "log" / "events.jsonl").read_text().splitlines()]
    counted = Counter(one["type"] for one in events)
    assert counted == {
        "run-start": 1,
        "suite-start": 1,
        "eval-start": 2,
        "eval-end": 2,
        "suite-end": 1,
        "run-end": 1,
    }
    assert all(next(iter(one)) == "ts" for one in events)
    assert (events[0]["target"], events[-1]["exit_code"]) == ("scripted", 0)
    assert done.document["exit_code"] == 0
    assert done.err == ""


def test_silence_means_none(run: Run, server: ModelServer) -> None:
    """Nothing on stdout or stderr; quiet leaves out the progress alone."""
    silent = run(*arguments(server, "--log-format", "silent"))
    assert (silent.code, silent.out, silent.err) == (0, "", "")
    quiet = run(*arguments(server, "--quiet"))
    assert ("greek" in quiet.out, "evaluating" in quiet.err) == (True, False)


def test_a_config_of_agent_skills_eval_is_taken_over(run: Run, server: ModelServer, folder: Path) -> None:
    """Its keys become settings; the command line wins."""
    config = {
        "root": "./skills",
        "target": "other",
        "judge": "scripted",
        "baseUrl": server.base_url,
        "baseline": True,
        "concurrency": 2,
    }
    (folder / "agent-skills-eval.yaml").write_text(json.dumps(config))
    done = run(
        "eval", "-c", "agent-skills-eval.yaml", "--target", "scripted", "model.api_key_env=''", "--json"
    )
    assert done.code == 0, done.err
    trials = rows(done, "trials")
    assert (set(trials["model"]), set(trials["concurrency"])) == ({"scripted"}, {2})
    assert set(trials["mode"]) == {"with_skill", "without_skill"}


def test_parameters_of_an_agent_skills_eval_config_reach_the_model(
    run: Run, folder: Path, server: ModelServer
) -> None:
    """`targetParams` and `judgeParams` are sent with each request, beside what is shipped."""
    config = {
        "root": "./skills",
        "target": "scripted",
        "judge": "grader",
        "baseUrl": server.base_url,
        "targetParams": {"max_tokens": 77},
        "judgeParams": {"max_tokens": 99},
    }
    (folder / "agent-skills-eval.yaml").write_text(json.dumps(config))
    done = run("eval", "-c", "agent-skills-eval.yaml", "model.api_key_env=''", "--json")
    assert done.code == 0, done.err
    assert {json.loads(one)["max_tokens"] for one in rows(done, "trials")["request"]} == {77}
    config = json.loads((done.run_folder() / "manifest.json").read_text())["config"]
    assert config["scorers"]["task"]["evals"]["llm_judge"]["params"] == {"temperature": 0, "max_tokens": 99}


def test_a_parameter_without_a_plus_is_answered_with_what_to_write(run: Run, server: ModelServer) -> None:
    """A new key of an open mapping is written behind a plus, and the error shows how."""
    done = run(*arguments(server, "model.params={temperature: 0}"))
    assert (done.code, "+model.params.temperature=VALUE" in done.err) == (2, True)
    assert run(*arguments(server, "+model.params.temperature=0", "--dry-run")).code == 0


def test_a_dry_run_counts_arms_and_names_who_would_be_asked(run: Run, server: ModelServer) -> None:
    """The factors of the trials multiply to their number, and both models are named with their place."""
    done = run(*arguments(server, "--baseline", "--runs", "3", "--dry-run", judge="grader"))
    assert "trials:     12 = 1 × 2 × 2 × 3 (skills × arms × tasks × repeats)" in done.out
    assert f"model:      scripted at {server.base_url}" in done.out
    assert f"judge:      grader at {server.base_url}" in done.out


def test_cases_of_several_skills_are_no_product_of_all_skills(
    run: Run, folder: Path, server: ModelServer
) -> None:
    """Each skill is tried on its own cases, so that the factors leave the skills out."""
    other = folder / "skills" / "latin"
    (other / "evals").mkdir(parents=True)
    (other / "SKILL.md").write_text(SKILL.replace("greek", "latin"))
    (other / "evals" / "evals.json").write_text(json.dumps({**EVALS, "skill_name": "latin"}))
    done = run(*arguments(server, "--baseline", "--dry-run"))
    assert "trials:     8 = 2 × 4 × 1 (arms × tasks × repeats)" in done.out


def test_instruction_skills_need_a_model(run: Run) -> None:
    """Without one the error says how to name it, whichever way the skills were found."""
    bare = run("eval", "./skills")
    assert (bare.code, "--target MODEL" in bare.err) == (2, True)
    for words in (("./skills",), ("./skills/greek",), ("./skills/greek/SKILL.md",)):
        chosen = run("eval", *words, "model=local")
        assert (chosen.code, "benchmark=evals" in chosen.err) == (2, True)
        assert run("eval", *words, "model=local", "benchmark=evals", "--dry-run").code == 0
    named = run("eval", "./skills", "benchmark=evals")
    assert (named.code, "--target MODEL" in named.err) == (2, True)


def test_nothing_chosen_is_an_error(run: Run, server: ModelServer) -> None:
    """Globs that choose no skill end with an error, not with a pass."""
    done = run(*arguments(server, "--include", "nothing/**"))
    assert (done.code, 'expected a skill that fits "nothing/**"' in done.err) == (2, True)


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("fault-500", "provider_error"),
        ("fault-429", "provider_error"),
        ("fault-malformed", "provider_error"),
        ("fault-garbage-json", "provider_error"),
        ("fault-reset", "provider_error"),
        ("fault-hang", "timeout"),
        ("fault-drip", "timeout"),
    ],
)
def test_c60_a_failed_call_is_graded_by_nobody(
    run: Run, server: ModelServer, fault: str, status: str
) -> None:
    """Whatever the provider does wrong is a status of its own; no judge is asked and no check passes."""
    done = run(
        *arguments(server, f"model.name={fault}", "--timeout", "1500", "--json", judge="scripted"),
    )
    trials = rows(done, "trials")
    assert set(trials["status"]) == {status}
    assert not rows(done, "scores")["passed"].fill_null(value=False).any()
    assert rows(done, "judgements").height == 0
