from __future__ import annotations

import os
from concurrent.futures import BrokenExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from skilleval.config.compose.launching import (
    Origin,
    at_home,
    engines_quiet,
    loss_words,
    losses,
    missing_launcher,
)
from skilleval.errors import ConfigError

ELSEWHERE = os.getpid() + 1


def test_a_worker_works_in_the_folder_of_the_sweep(tmp_path: Path) -> None:
    """Relative paths begin there during a job, and the engine finds its own folder again afterwards."""
    before = Path.cwd()
    with at_home(Origin(pid=ELSEWHERE, folder=tmp_path)):
        assert Path.cwd() == tmp_path
    assert Path.cwd() == before


def test_the_process_that_started_the_sweep_stays_where_it_is(tmp_path: Path) -> None:
    """Its working directory never changes."""
    before = Path.cwd()
    with at_home(Origin(folder=tmp_path)):
        assert Path.cwd() == before


def test_a_machine_without_the_project_says_so(tmp_path: Path) -> None:
    """The error names the folder and what jobs on other machines need."""
    with (
        pytest.raises(ConfigError, match="not on this machine") as caught,
        at_home(Origin(host="far", folder=tmp_path / "gone")),
    ):
        pass
    assert str(tmp_path / "gone") in str(caught.value)
    assert "share" in caught.value.hint


@pytest.mark.parametrize(
    ("option", "extra"),
    [("joblib", "joblib"), ("ray", "ray"), ("submitit_slurm", "submitit"), ("submitit_local", "submitit")],
)
def test_a_launcher_that_is_not_installed_names_its_extra(option: str, extra: str) -> None:
    """The hint is the command that installs it."""
    error = missing_launcher(option)
    assert error is not None
    assert f"skilleval[{extra}]" in error.hint


def test_an_unknown_launcher_is_no_missing_one() -> None:
    """A name that nobody knows is answered with the names there are, not with an extra."""
    assert missing_launcher("jobblib") is None


def test_a_broken_pool_is_a_lost_process() -> None:
    """What joblib raises when a worker was killed counts; a mistake of ours does not."""
    assert issubclass(BrokenProcessPool, losses())
    assert not issubclass(ValueError, losses())
    assert losses()[0] is BrokenExecutor


def test_a_loss_is_told_in_one_line() -> None:
    """Engines add the log of the job; its first line is enough."""
    assert loss_words(BrokenExecutor("killed\n\nTraceback\n  much")) == "BrokenExecutor: killed"
    assert loss_words(BrokenExecutor()) == "BrokenExecutor"


def test_ray_sends_no_statistics_unless_asked() -> None:
    """A sweep turns them off for engines that it starts."""
    with engines_quiet():
        assert os.environ["RAY_USAGE_STATS_ENABLED"]
