from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from skilleval.app.diagnosis import State, diagnose
from skilleval.sandboxes.base import GUARANTEES


def test_the_process_sandbox_says_what_it_enforces_and_what_to_do_for_the_rest() -> None:
    """Every guarantee is either found or has a remedy, never both."""
    (check,) = [check for check in diagnose() if (check.area, check.name) == ("sandbox", "process")]
    found = set(check.found.partition(" enforces ")[2].split(", "))
    wanting = {name for part in check.fix.split("for ")[1:] for name in part.partition(":")[0].split(", ")}
    assert found <= GUARANTEES.keys()
    assert found | (wanting & GUARANTEES.keys()) == GUARANTEES.keys()
    assert not found & wanting
    assert check.state == (State.MISSING if wanting else State.OK)
    assert check.found.split()[0] in {"bubblewrap", "fallback"}


def test_the_doctor_goes_by_the_limits_that_a_run_has() -> None:
    """CPU time is limited for each process without any control group, as the shipped settings ask for it."""
    (check,) = [check for check in diagnose() if (check.area, check.name) == ("sandbox", "process")]
    assert "cpu" in check.found.partition(" enforces ")[2].split(", ")


def _is_installed(requirement: str) -> bool:
    try:
        version(requirement.partition(">")[0])
    except PackageNotFoundError:
        return False
    return True


def test_each_extra_is_there_with_its_versions_or_comes_with_the_command_that_adds_it() -> None:
    """The extras are those of the project, none left out; one is there only when all its packages are."""
    project = Path(__file__).parents[2] / "pyproject.toml"
    extras = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    told = {check.name: check for check in diagnose() if check.area == "extra"}
    assert told.keys() == extras.keys()
    for name, packages in extras.items():
        check, missing = told[name], [one for one in packages if not _is_installed(one)]
        assert check.state == (State.MISSING if missing else State.OK)
        assert check.fix == (f"pip install 'skilleval[{name}]'" if missing else "")
        assert check.found.count("is not installed") == len(missing)
    assert told["joblib"].found == f"hydra-joblib-launcher {version('hydra-joblib-launcher')}"
