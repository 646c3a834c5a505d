"""`skilleval power`: how many tasks and repeats a goal asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Run
from recorded_runs import RIGHT, WRONG, Workload, write_workload

from skilleval.app.evaluate import evaluate


@pytest.fixture
def mixed(tmp_path: Path) -> Workload:
    """Give a stored run of four tasks with three repeats each, half of them passed."""
    made = write_workload(tmp_path, {"a": RIGHT, "b": RIGHT, "c": WRONG, "d": WRONG})
    evaluate(made.prepared("runner.repeats=3"), observe=lambda _record: None)
    return made


def source(document: Any) -> Any:
    """Give the only source that a document plans for."""
    (only,) = document["sources"]
    return only


def test_given_variances_need_no_run(run: Run) -> None:
    """The worked variances ask for 1287.2, 617.4 and 383.0 tasks, of which more than 400 are saved by 9 repeats."""
    done = run(
        *("power", "--omega2", "0.09", "--sigma2", "0.16", "--difference", "0.05"),
        *("--repeats", "1", "3", "10", "--tasks", "400", "--json"),
    )
    assert (done.code, done.err) == (0, "")
    planned = source(done.document)
    assert [round(plan["tasks_z"], 1) for plan in planned["plans"]] == [1287.2, 617.4, 383.0]
    assert [plan["tasks"] for plan in planned["plans"]] == [1290, 620, 385]
    assert planned["repeats_needed"] == 9


def test_a_rate_and_a_correlation_are_variances_too(run: Run) -> None:
    """The table has a line for each usual number of repeats, under the goal in plain words."""
    done = run("power", "--rate", "0.5", "--icc", "1", "--margin", "0.1")
    lines = done.out.splitlines()
    assert (done.code, lines[0]) == (0, "To know it to ±0.1 at level 0.95:")
    table = [line.split("\t")[:3] for line in lines if line[:1].isdigit()]
    assert table == [[str(k), "96.0", "99"] for k in (1, 2, 3, 5, 10)]


def test_a_run_gives_its_own_variances(run: Run, mixed: Workload) -> None:
    """Tasks that always end the same leave no variance between repeats, so that no repeats help."""
    document = run("power", str(mixed.run_folder()), "--margin", "0.1", "--json").document
    planned = source(document)
    assert (planned["n_tasks"], planned["mean"], planned["icc"]) == (4, 0.5, 1.0)
    assert planned["variances"]["between_repeats"] == 0.0
    assert planned["variances"]["between_tasks"] == pytest.approx(1 / 3)
    assert len({plan["tasks"] for plan in planned["plans"]}) == 1
    assert planned["repeats_needed"] is None
    shown = run("power", str(mixed.run_folder()), "--margin", "0.1").out
    assert "No number of repeats of these 4 tasks is enough: more tasks are needed." in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected a run, or --rate with --icc, or --omega2 with --sigma2"),
        (("--rate", "0.5"), "expected --omega2 with --sigma2, or --rate with --icc, found --rate"),
        (("--rate", "0.5", "--icc", "1", "--margin", "0.1", "--difference", "0.1"), "expected one goal"),
        (("--rate", "0.5", "--icc", "1", "--power", "0.9"), "expected --difference beside --power"),
        (("--rate", "0.5", "--icc", "1", "--skill", "x"), "expected a run beside --skill"),
        (("latest", "--rate", "0.5", "--icc", "1"), "expected variances of a run or given ones, found both"),
        (("--rate", "0.5", "--icc", "1", "--margin", "0"), "--margin: expected a number above 0, found 0"),
    ],
)
def test_what_cannot_be_planned_is_one_clear_error(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    """Options that are missing or do not go together are named; nothing is on stdout."""
    done = run("power", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_skill_that_the_run_does_not_have_is_named(run: Run, mixed: Workload) -> None:
    """The message says which skills there are."""
    done = run("power", str(mixed.run_folder()), "--skill", "nobody")
    assert done.code == 2
    assert "skill_id: expected one of" in done.err


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("--rate", "1", "--icc", "0.4"), "--rate"),
        (("--rate", "0", "--icc", "0.4"), "--rate"),
        (("--omega2", "0", "--sigma2", "0"), "--omega2 and --sigma2"),
        (("--omega2", "inf", "--sigma2", "0.1"), "--omega2"),
        (("--omega2", "0.1", "--sigma2", "nan"), "--sigma2"),
        (("--rate", "0.5", "--icc", "0", "--margin", "0"), "--margin"),
        (("--rate", "0.5", "--icc", "0", "--difference", "0"), "--difference"),
        (("--rate", "0.5", "--icc", "0", "--level", "1"), "--level"),
    ],
)
def test_what_cannot_vary_or_be_reached_names_its_option(
    run: Run, arguments: tuple[str, ...], option: str
) -> None:
    """No number of tasks is told where nothing varies: two would be enough for everything, which is untrue."""
    done = run("power", *arguments)
    assert (done.code, done.out) == (2, "")
    assert f"  {option}: expected " in done.err
