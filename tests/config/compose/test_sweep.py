from __future__ import annotations

import json
import logging
import pickle
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hydra.core.singleton import Singleton

from skilleval.app.sweeps import StoredLedger
from skilleval.config.compose import Composed, quote, run_hydra, sweep
from skilleval.config.compose.session import read_sources
from skilleval.config.compose.task import Task
from skilleval.config.request import Request
from skilleval.errors import CatalogError, ConfigError, UsageError

Run = Callable[..., tuple[dict[str, Any], ...]]


def job(composed: Composed) -> Mapping[str, Any]:
    """Say what the job was given."""
    settings = composed.settings
    return {
        "exit_code": 0,
        "scorers": {name: dict(part.options) for name, part in settings.scorers.items()},
        "experiment": settings.experiment_name,
        "title": settings.report.title,
        "choices": dict(composed.choices),
        "sweep": composed.sweep.sweep_id if composed.sweep else None,
        "number": composed.sweep.job_num if composed.sweep else None,
    }


def failing_job(composed: Composed) -> Mapping[str, Any]:
    """Fail in the first job alone."""
    if composed.settings.runner.repeats == 1:
        raise CatalogError("no such skill")
    return {"exit_code": 1}


def interrupted_job(composed: Composed) -> Mapping[str, Any]:
    """End as if the user had pressed Ctrl-C in the first job."""
    return {"exit_code": 130 if composed.settings.runner.repeats == 1 else 0}


def lost_interruption_job(_: Composed) -> Mapping[str, Any]:
    """Be stopped as inside OmegaConf: its `finally` reads a name that was not set yet."""
    try:
        raise KeyboardInterrupt
    finally:
        raise UnboundLocalError


def carrying_job(composed: Composed) -> Mapping[str, Any]:
    """Carry Hydra's state to a copy and back, as a launcher for other processes does."""
    state = pickle.loads(pickle.dumps(Singleton.get_state()["instances"]))  # noqa: S301 - our own bytes
    kinds = sorted(kind.__name__ for kind in state)
    return {"exit_code": 0, "kinds": kinds, "repeats": composed.settings.runner.repeats}


def broken_job(composed: Composed) -> Mapping[str, Any]:
    """Break as a bug would."""
    msg = f"a bug in {composed.settings.experiment_name}"
    raise ValueError(msg)


@pytest.fixture
def run(project: Path, user_file: Path) -> Run:
    """Run Hydra's program in the project."""

    def ledger(folder: Path) -> StoredLedger:
        return StoredLedger(folder=folder)

    def go(*argv: str, call: Callable[[Composed], Mapping[str, Any]] = job) -> tuple[dict[str, Any], ...]:
        return run_hydra(list(argv), call, project=project, user_file=user_file, ledger=ledger)

    return go


def test_a_sweep_makes_one_run_a_value(run: Run) -> None:
    """`-m scorer=exact,contains` runs two jobs in one sweep, each with its own scorer."""
    outcomes = run("-m", "skill_set=examples", "scorer=exact,contains")
    assert [list(one["scorers"]) for one in outcomes] == [["exact"], ["contains"]]
    assert [one["number"] for one in outcomes] == [0, 1]
    assert outcomes[0]["overrides"] == ["skill_set=examples", "scorer=exact"]
    assert outcomes[0]["choices"]["scorer"] == "exact"
    assert outcomes[0]["sweep"] == outcomes[1]["sweep"] is not None


def test_a_sweep_writes_only_into_its_own_folder(run: Run, project: Path) -> None:
    """Beside its plan and one outcome a job, a sweep leaves nothing behind."""
    (outcome,) = run("-m", "skill_set=examples", "runner.repeats=2")
    folder = project / "outputs" / "default" / outcome["sweep"]
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert files == [".lock", f"jobs/{outcome['key']}.json", "sweep.json"]
    assert [path.name for path in project.iterdir()] == ["outputs"]
    assert json.loads((folder / "jobs" / f"{outcome['key']}.json").read_text())["exit_code"] == 0


def test_jobs_share_the_sweeps_folder_whatever_they_change(run: Run) -> None:
    """A sweep over the experiment's name is still one sweep with all its outcomes, and none of another sweep."""
    first = run("-m", "skill_set=examples", "experiment_name=a,b")
    second = run("-m", "skill_set=examples", "experiment_name=a")
    assert [one["experiment"] for one in first] == ["a", "b"]
    assert [one["experiment"] for one in second] == ["a"]
    assert first[0]["sweep"] != second[0]["sweep"]


def test_benchmarks_are_swept_like_any_group(run: Run, project: Path) -> None:
    """Found benchmarks are options of a sweep."""
    for name in ("one", "two"):
        folder = project / "benchmarks" / name
        folder.mkdir(parents=True)
        (folder / "benchmark.json").write_text("{}")
    outcomes = run("-m", "skill_set=examples", "benchmark=one,two")
    assert [one["choices"]["benchmark"] for one in outcomes] == ["one", "two"]


def test_a_sweep_drops_what_files_say_of_the_swept_group(run: Run, project: Path) -> None:
    """A group swept on the command line is exactly the option of the job."""
    (project / "skilleval.yaml").write_text(
        "defaults:\n  - override /scorer: exact\nscorers: {exact: {strip: false}}\nreport: {title: kept}\n"
    )
    outcomes = run("-m", "skill_set=examples", "scorer=exact,contains")
    assert [list(one["scorers"]) for one in outcomes] == [["exact"], ["contains"]]
    assert outcomes[0]["scorers"]["exact"]["strip"] is True
    assert [one["title"] for one in outcomes] == ["kept", "kept"]


def test_an_experiment_may_hold_a_sweep(run: Run, project: Path) -> None:
    """Parameters of the sweeper in a user's own experiment are swept, and beat the files."""
    (project / "skilleval.yaml").write_text("scorers: {exact: {kind: exact, strip: false}}\n")
    path = project / "conf" / "experiment" / "both.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("# @package _global_\nhydra:\n  sweeper:\n    params:\n      scorer: exact,contains\n")
    outcomes = run("-m", "skill_set=examples", "+experiment=both")
    assert [list(one["scorers"]) for one in outcomes] == [["exact"], ["contains"]]
    assert outcomes[0]["scorers"]["exact"]["strip"] is True


def test_a_users_conf_is_used_in_every_job(run: Run, project: Path) -> None:
    """The project's `conf/` comes first in a sweep as well."""
    path = project / "conf" / "scorer" / "mine.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("# @package scorers.mine\nkind: exact\nstrip: false\n")
    outcomes = run("-m", "skill_set=examples", "scorer=mine")
    assert [list(one["scorers"]) for one in outcomes] == [["mine"]]


def test_a_config_dir_is_passed_through(run: Run, tmp_path: Path) -> None:
    """`--config-dir` adds to groups, before the shipped options and over them."""
    path = tmp_path / "extra" / "scorer" / "exact.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("# @package scorers.exact\nstrip: false\n")
    (outcome,) = run("skill_set=examples", "scorer=exact", "--config-dir", str(tmp_path / "extra"))
    assert outcome["scorers"]["exact"] == {"strip": False, "case_sensitive": True, "tolerance": 0.0}


def test_a_config_dir_must_exist(run: Run) -> None:
    """A folder that is not there is an error."""
    with pytest.raises(ConfigError, match="nowhere"):
        run("--config-dir=nowhere", "skill_set=examples")


def test_a_quoted_comma_is_no_sweep(run: Run) -> None:
    """One text with a comma stays one value in every job."""
    outcomes = run("-m", "skill_set=examples", f"report.title={quote('a, b')}")
    assert [one["title"] for one in outcomes] == ["a, b"]


def test_all_jobs_run_even_if_one_fails(run: Run) -> None:
    """A mistake in one job, in its settings or found later, is that job's outcome and nobody else's."""
    wrong, failed, done = run("-m", "skill_set=examples", "runner.repeats=0,1,2", call=failing_job)
    assert (wrong["exit_code"], wrong["state"], failed["state"]) == (2, "refused", "failed")
    assert "runner.repeats=0" in wrong["error"]
    assert (failed["exit_code"], failed["error"]) == (2, "no such skill")
    assert (done["exit_code"], done.get("error")) == (1, None)


def test_an_interrupted_job_ends_the_sweep(run: Run) -> None:
    """After Ctrl-C no further job starts; what ended is kept."""
    outcomes = run("-m", "skill_set=examples", "runner.repeats=1,2", call=interrupted_job)
    assert [one["exit_code"] for one in outcomes] == [130]


def test_an_interruption_that_a_library_loses_ends_the_sweep(run: Run, project: Path) -> None:
    """OmegaConf trips over a Ctrl-C in its own `finally`; the job was stopped all the same, and did not break."""
    outcomes = run("-m", "skill_set=examples", "runner.repeats=2,3", call=lost_interruption_job)
    assert [outcome["exit_code"] for outcome in outcomes] == [130]
    (file,) = project.glob("outputs/*/*/jobs/*.json")
    assert json.loads(file.read_text())["state"] == "interrupted"


def test_a_bug_in_a_job_is_that_jobs_end(run: Run) -> None:
    """What breaks a job is told with its name, with exit code 3, and the other jobs run all the same."""
    outcomes = run("-m", "skill_set=examples", "runner.repeats=1,2", call=broken_job)
    assert [one["exit_code"] for one in outcomes] == [3, 3]
    assert outcomes[1]["error"] == "the job broke: ValueError: a bug in default"


def test_without_a_sweep_there_is_one_job(run: Run, project: Path) -> None:
    """A single run through Hydra gives one outcome and writes nothing."""
    (outcome,) = run("skill_set=examples", "scorer=exact")
    assert (outcome["sweep"], list(outcome["scorers"])) == (None, ["exact"])
    assert list(project.iterdir()) == []


def test_cfg_prints_the_composed_config(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """`--cfg job` prints YAML on stdout and runs nothing, also while values are missing."""
    assert run("--cfg", "job", "runner.repeats=7", "--package", "runner") == ()
    assert "repeats: 7" in capsys.readouterr().out
    assert run("runner.repeats=7", "--cfg=job") == ()
    assert "paths: ???" in capsys.readouterr().out


def test_info_prints_and_leaves_logging_alone(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """`--info` shows the defaults list; the root logger is as before."""
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    assert run("--info", "defaults", "scorer=exact") == ()
    assert "project_file" in capsys.readouterr().out
    assert (root.level, list(root.handlers)) == before


@pytest.mark.parametrize(
    "argv",
    [
        ("-m", "skill_set=examples", "benchmark=coding-easy,nothing"),
        ("-m", "skill_set=examples", "runner.repeet=1,2"),
        ("skill_set=examples", "runner.repeats=1,2"),
        ("-m", "--cfg", "job"),
        ("-m", "runner.repeats=["),
        ("-m", "skill_set=examples", "hydra/launcher=nothing"),
        ("--config-name", "nothing"),
    ],
)
def test_what_hydra_refuses_is_a_config_error(
    run: Run, capsys: pytest.CaptureFixture[str], argv: tuple[str, ...]
) -> None:
    """No traceback and none of Hydra's advice reaches the user, and the lent command line is given back."""
    before = list(sys.argv)
    with pytest.raises(ConfigError) as caught:
        run(*argv)
    said = f"{caught.value}{capsys.readouterr().err}"
    assert "HYDRA_FULL_ERROR" not in said
    assert "Traceback" not in said
    assert sys.argv == before


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("runner.timeout_ms=interval(1,2)",), "hydra/sweeper=optuna"),
        (("runner.repeet=1,2",), "did you mean repeats"),
        (("scorer=nosuch,exact",), "found nosuch"),
        (("hydra/sweeper=optuna", "runner.repeet=interval(1,2)"), "did you mean repeats"),
        (("hydra/sweeper=basic", "runner.repeet=1,2"), "did you mean repeats"),
    ],
)
def test_a_sweep_that_is_refused_leaves_nothing_behind(
    run: Run, project: Path, argv: tuple[str, ...], said: str
) -> None:
    """Whatever no job can be composed with is named, and `latest` is an older sweep."""
    with pytest.raises(ConfigError, match=said):
        run("-m", "skill_set=examples", *argv)
    assert list(project.glob("outputs/*/*")) == []


def test_the_sweepers_of_others_have_their_books_too(run: Run) -> None:
    """Jobs of a sweeper that does not say what it sweeps are told apart by all their overrides."""
    outcomes = run("-m", "skill_set=examples", "hydra/sweeper=basic", "runner.repeats=1,2")
    assert [(one["job"], one["state"]) for one in outcomes] == [(0, "done"), (1, "done")]
    assert outcomes[0]["key"] != outcomes[1]["key"]


def test_values_that_are_said_twice_make_one_job(run: Run) -> None:
    """The same settings are never run twice in one sweep."""
    assert len(run("-m", "skill_set=examples", "scorer=exact,exact")) == 1


def test_an_unknown_flag_is_bad_usage(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Flags that Hydra does not have are an error of usage, with its own explanation on stderr."""
    with pytest.raises(UsageError):
        run("--cfg", "nothing")
    assert "invalid choice" in capsys.readouterr().err


def test_the_task_survives_pickling(project: Path, user_file: Path) -> None:
    """Launchers that use other processes can carry what Hydra calls in each job."""
    request = Request(project=project, user_file=user_file, overrides=("scorer=exact",))
    task = Task(job=job, sources=read_sources(request), ledger=StoredLedger(folder=project))
    assert pickle.loads(pickle.dumps(task)) == task  # noqa: S301 - our own bytes


def test_hydras_state_survives_pickling(run: Run) -> None:
    """The state that launchers carry holds what our plugins serve."""
    outcomes = run("-m", "skill_set=examples", "runner.repeats=2", call=carrying_job)
    assert [one["repeats"] for one in outcomes] == [2]
    assert {"Session", "GlobalHydra", "SourcesRegistry"} <= set(outcomes[0]["kinds"])


def test_a_sweep_stopped_between_jobs_tells_what_is_done() -> None:
    """The outcomes of finished jobs are kept, and one more says where it ended."""
    done = ({"job": 0, "overrides": ["a=1"], "exit_code": 0},)
    told = sweep._interrupted(done)  # noqa: SLF001 - between two jobs there is no moment a test could hit
    assert told[0] == done[0]
    assert (told[1]["job"], told[1]["exit_code"]) == (1, 130)
    stopped = ({"job": 0, "overrides": [], "exit_code": 130},)
    assert sweep._interrupted(stopped) == stopped  # noqa: SLF001 - the same
