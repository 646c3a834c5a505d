from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skilleval
from skilleval.config.shipped import shipped

_PACKAGE = Path(skilleval.__file__).parent

_COMPOSE = """
import json, pathlib, sys
from skilleval.config.compose import compose_settings
project = pathlib.Path(sys.argv[1])
composed = compose_settings(["skill_set=examples"], project=project, user_file=project / "none.yaml")
print(json.dumps([composed.values, sys.modules["skilleval"].__file__]))
"""


@pytest.mark.parametrize("name", ["conf", "benchmarks", "examples"])
def test_shipped_folders_are_found_in_a_checkout(name: str) -> None:
    """The folders beside the package are found."""
    assert shipped(name).is_dir()


def test_an_installed_package_uses_the_folders_inside_it(tmp_path: Path) -> None:
    """As in a wheel: with the data inside the package, composing works from anywhere and a user's `conf/` wins."""
    installed = tmp_path / "site" / "skilleval"
    shutil.copytree(_PACKAGE, installed, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("conf", "benchmarks", "examples"):
        shutil.copytree(
            shipped(name), installed / name, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True
        )
    gate = tmp_path / "project" / "conf" / "gate" / "default.yaml"
    gate.parent.mkdir(parents=True)
    gate.write_text("min_completion: 0.25\nexit_on_fail: false\nfail_on_error: false\n")
    command = [sys.executable, "-c", _COMPOSE, str(tmp_path / "project")]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path / "site")}, capture_output=True, check=True
    )
    values, file = json.loads(done.stdout)
    assert file == str(installed / "__init__.py")
    assert values["paths"]["shipped_examples"] == str(installed / "examples")
    assert values["gate"]["min_completion"] == 0.25


def test_looking_at_settings_models_needs_no_hydra() -> None:
    """Hydra is imported by those who compose, and by nobody else."""
    code = (
        "import sys, skilleval.config.settings, skilleval.config.layers, skilleval.config.request\n"
        "sys.exit(any(name in sys.modules for name in ('hydra', 'omegaconf', 'ruamel.yaml', 'yaml')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
