"""The example instruction skills on the scripted model, as `make demo-llm` runs them, and what may go wrong with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_servers import ModelServer, model_server
from small_skills import Said, said

from skilleval.catalog.read import read_catalog

EXAMPLES = Path(__file__).parents[2] / "examples" / "instruction_skills"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """Give the scripted model with the rules that come with it."""
    with model_server(tmp_path_factory.mktemp("server")) as server:
        yield server


def command(server: ModelServer, folder: Path, *more: str) -> list[str]:
    """Give the command of the README of the examples, with results below a folder."""
    model = ("model=local", f"model.base_url={server.base_url}")
    places = ("--output-dir", str(folder / "out"), f"paths.cache={folder / 'cache'}")
    quick = ("--concurrency", "8", "report.formats=[json]")
    return ["eval", "skill_set=examples_md", *model, "--baseline", *places, *quick, *more]


def one_skill(server: ModelServer, folder: Path, *more: str) -> Said:
    """Evaluate one of the skills: eight cases in two arms."""
    return said(*command(server, folder, "--include", "harbour-codes", "--json", *more))


@pytest.fixture(scope="module")
def report(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Give the report of a run with three repeats."""
    done = said(*command(server, tmp_path_factory.mktemp("run"), "--repeats", "3", "--json"))
    assert done.code == 0, done.err
    document: dict[str, Any] = json.loads(Path(done.document["reports"]["json"]).read_text(encoding="utf-8"))
    return document


def test_the_examples_keep_the_specification() -> None:
    """All are read without a notice, also where the specification is taken at its word."""
    catalog = read_catalog([EXAMPLES], form="instruction", strict=True)
    assert (catalog.problems, catalog.notices) == ((), ())
    assert [skill.id for skill in catalog.skills] == [
        "column-sums", "harbour-codes", "one-word-answers", "plain-letters"
    ]  # fmt: skip


def test_each_example_shows_what_its_page_says(report: dict[str, Any]) -> None:
    """One helps much, one in some cases, one adds nothing and is told so, one harms."""
    found = {row["skill_id"]: (row["finding"], round(row["uplift"], 3)) for row in report["uplift"]}
    assert found == {
        "harbour-codes": ("helps", 0.729),
        "column-sums": ("inconclusive", 0.233),
        "plain-letters": ("no_uplift", 0.0),
        "one-word-answers": ("harms", -0.667),
    }


def test_uplift_comes_with_interval_and_cost(report: dict[str, Any]) -> None:
    """The sentence about a skill has its interval, and what a case costs more."""
    sentence = next(row["sentence"] for row in report["uplift"] if row["skill_id"] == "harbour-codes")
    assert sentence.startswith(
        "harbour-codes adds +0.729 [+0.451, +1] (8 cases, 3 repeats), p = 0.016, for +"
    )
    assert " tokens, " in sentence
    assert "$0.0000" in sentence


def test_every_kind_of_assertion_occurs(report: dict[str, Any]) -> None:
    """The examples have assertions of each class that the report tells apart."""
    assert {row["signal"] for row in report["assertions"]} == {
        "always_pass", "always_fail", "only_with", "only_without", "flaky"
    }  # fmt: skip


def test_the_judge_is_paid_apart(report: dict[str, Any], server: ModelServer) -> None:
    """Judging stands in rows of its own; cases with tool assertions alone need no judge."""
    (spend,) = report["judge_spend"]
    assert spend["n_calls"] == 150  # (26 cases - 1) × 2 arms × 3 repeats
    assert spend["n_failed"] == 0
    asked = Counter(line["purpose"] for line in server.logged())
    assert asked["subject"] >= 156


def test_both_arms_get_the_same_files(server: ModelServer, tmp_path: Path) -> None:
    """Seed and cases are the same with and without the skill: half of all questions have a system message."""
    before = len(server.logged())
    assert one_skill(server, tmp_path).code == 0
    asked = [line for line in server.logged()[before:] if line["purpose"] == "subject"]
    arms = {has: sorted(line["seed"] for line in asked if line["has_system"] is has) for has in (True, False)}
    assert len(arms[True]) == 8
    assert arms[True] == arms[False]


@pytest.mark.parametrize("fault", ["fault-401", "fault-429", "fault-500", "fault-reset", "fault-malformed",
                                   "fault-garbage-json", "fault-no-choices"])  # fmt: skip
def test_a_model_that_fails_is_not_graded(server: ModelServer, tmp_path: Path, fault: str) -> None:
    """No answer is judged, no assertion passes, and the exit code is that of broken infrastructure."""
    before = len(server.logged())
    done = one_skill(
        server, tmp_path, f"model.name={fault}", "judge=local", f"judge.base_url={server.base_url}"
    )
    assert done.code == 3, done.err
    assert done.document["statuses"] == {"provider_error": 16}
    assert {line["purpose"] for line in server.logged()[before:]} == {"subject"}


@pytest.mark.parametrize("fault", ["fault-hang", "fault-drip"])
def test_a_model_that_takes_for_ever_is_timed_out(server: ModelServer, tmp_path: Path, fault: str) -> None:
    """The limit holds for the whole answer, not for each byte of it."""
    done = one_skill(server, tmp_path, f"model.name={fault}", "--timeout", "400", "--concurrency", "16")
    assert done.document["statuses"] == {"timeout": 16}


@pytest.mark.parametrize("fault", ["fault-refuse-system", "fault-no-usage"])
def test_a_model_that_lacks_something_is_measured(server: ModelServer, tmp_path: Path, fault: str) -> None:
    """Without a system role, and without usage, a skill is measured all the same."""
    done = one_skill(
        server, tmp_path, f"model.name={fault}", "judge=local", f"judge.base_url={server.base_url}"
    )
    assert done.document["statuses"] == {"completed": 16}
    rates = {row["mode"]: row["completion_rate"] for row in done.document["summary"]}
    assert rates == {"with_skill": 0.875, "without_skill": 0.125}


def test_a_model_that_fails_at_first_is_asked_again(server: ModelServer, tmp_path: Path) -> None:
    """With retries, failures that pass leave no trace in the result."""
    settings = ("model.name=fault-flaky-503", "judge=local", f"judge.base_url={server.base_url}")
    done = one_skill(server, tmp_path, *settings, "runner.retries=1", "runner.backoff_base_s=0.01")
    assert done.document["statuses"] == {"completed": 16}


@pytest.mark.parametrize("fault", ["fault-judge-shuffled", "fault-judge-fenced", "fault-judge-prose",
                                   "fault-judge-strings", "fault-refuse-schema"])  # fmt: skip
def test_a_judge_with_manners_of_its_own_is_understood(
    server: ModelServer, tmp_path: Path, fault: str
) -> None:
    """Order, fences, prose and texts for truth values change no verdict."""
    done = one_skill(
        server, tmp_path, "judge=local", f"judge.name={fault}", f"judge.base_url={server.base_url}"
    )
    assert done.code == 0, done.err
    rates = {row["mode"]: row["completion_rate"] for row in done.document["summary"]}
    assert rates == {"with_skill": 0.875, "without_skill": 0.125}


@pytest.mark.parametrize("fault", ["fault-judge-garbage", "fault-empty", "fault-400"])
def test_a_judge_that_fails_leaves_cases_ungraded(server: ModelServer, tmp_path: Path, fault: str) -> None:
    """What could not be judged is neither passed nor failed, and the exit code says that a judge failed."""
    done = one_skill(
        server, tmp_path, "judge=local", f"judge.name={fault}", f"judge.base_url={server.base_url}"
    )
    assert done.code == 3, done.err
    assert done.document["statuses"] == {"completed": 16}
    graded = {row["mode"]: row["n_graded"] for row in done.document["summary"]}
    assert graded == {"with_skill": 1, "without_skill": 1}  # the case with tool assertions alone


def test_after_kill_nothing_paid_is_asked_again(tmp_path: Path) -> None:
    """A run that is killed goes on with `--resume`; each finished trial was asked and judged once."""
    with model_server(tmp_path, "--latency-ms", "150") as server:
        arguments = command(server, tmp_path, "--concurrency", "2")
        with subprocess.Popen(
            [sys.executable, "-m", "skilleval", *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as run:  # fmt: skip
            until = time.monotonic() + 120
            while len(server.logged()) < 24 and time.monotonic() < until:
                time.sleep(0.02)
            os.kill(run.pid, signal.SIGKILL)
        done = said(
            "eval", "--resume", "latest", "--store", tmp_path / "out", "--json", "runner.concurrency=16"
        )
        assert done.code == 0, done.err
        calls = Counter((line["purpose"], line["digest"]) for line in server.logged())
    asked = Counter(purpose for purpose, _ in calls)
    assert asked["subject"] == 52  # 26 cases × 2 arms
    assert sum(calls.values()) - len(calls) <= 2 * 2  # those of the two trials that were under way
