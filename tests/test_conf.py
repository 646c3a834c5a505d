"""Rules for the files in `conf/`, whatever their number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skilleval.config.compose import compose_settings
from skilleval.config.shipped import shipped

_CONF = shipped("conf")
_FILES = sorted(_CONF.rglob("*.yaml"))
_OPTIONS = [
    path
    for path in _FILES
    if path.parent != _CONF and path.relative_to(_CONF).parts[0] not in {"hydra", "experiment"}
]
_EXPERIMENTS = sorted((_CONF / "experiment").glob("*.yaml"))
_GIVEN = {
    "skill_set": ["skill_set.paths=[skills]"],
    "adapter": ["adapter.path=attempts.jsonl"],
    "benchmark": ["benchmark.name=b.json"],
    "model": ["model.name=m"],
    "judge": ["judge.name=m"],
    "second_judge": ["second_judge.name=m"],
    "scorer": ["scorers.labels.path=labels.csv"],
}
"""Values that only a user can give, where an option leaves them open."""


def _name(path: Path) -> str:
    return str(path.relative_to(_CONF))


def _given(path: Path) -> list[str]:
    is_open = "???" in path.read_text() or "/model/openai@" in path.read_text()
    return _GIVEN.get(path.parent.name, []) if is_open else []


def test_there_is_something_to_test() -> None:
    """The rules below would hold for an empty folder too."""
    assert len(_OPTIONS) >= 15
    assert {path.stem for path in _EXPERIMENTS} >= {"demo"}


@pytest.mark.parametrize("path", _OPTIONS, ids=_name)
def test_every_option_of_every_group_composes(path: Path, tmp_path: Path) -> None:
    """Each file is a usable option of its group, once what it leaves open is given."""
    group, option = path.parent.name, path.stem
    base = [] if group == "skill_set" else ["skill_set=examples"]
    composed = compose_settings(
        [*base, f"{group}={option}", *_given(path)], project=tmp_path, user_file=tmp_path / "none.yaml"
    )
    assert composed.choices[group] == option


@pytest.mark.parametrize("path", _EXPERIMENTS, ids=_name)
def test_every_experiment_composes(path: Path, tmp_path: Path) -> None:
    """Each experiment is a usable diff, with skills named where it chooses none."""
    chooses = "/skill_set" in path.read_text()
    given = [f"+experiment={path.stem}", *([] if chooses else ["skill_set=examples"])]
    composed = compose_settings(given, project=tmp_path, user_file=tmp_path / "none.yaml")
    assert composed.settings.experiment_name == path.stem


@pytest.mark.parametrize("path", _EXPERIMENTS, ids=_name)
def test_every_experiment_shows_the_command_that_runs_it(path: Path) -> None:
    """The header of an experiment holds the command."""
    header = [line for line in path.read_text().splitlines() if line.startswith("#")]
    assert any("skilleval eval" in line and f"+experiment={path.stem}" in line for line in header)


@pytest.mark.parametrize("path", _FILES, ids=_name)
def test_every_key_has_a_comment(path: Path) -> None:
    """Each line that sets or chooses something says behind it what that is."""
    lines = path.read_text().splitlines()
    leaf = re.compile(r"^\s*(- \S+|[\w ]+:\s+[^#\s].*)")
    bare = [
        line for line in lines if not line.lstrip().startswith("#") and leaf.match(line) and " # " not in line
    ]
    assert bare == []


@pytest.mark.parametrize("path", _FILES, ids=_name)
def test_every_file_begins_with_what_it_is(path: Path) -> None:
    """The first comment that is no package header says what the file is for."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("# @package")]
    assert re.match(r"# \S.+", lines[0])


@pytest.mark.parametrize("path", _FILES, ids=_name)
def test_only_paths_and_hydra_look_outside(path: Path) -> None:
    """Elsewhere a value may refer to `paths` and to nothing else."""
    references = re.findall(r"\$\{([^}]*)\}", path.read_text())
    if path.parent.name not in {"paths", "hydra"}:
        assert all(re.fullmatch(r"paths\.\w+", reference) for reference in references)


@pytest.mark.parametrize("path", sorted((_CONF / "scorer").glob("*.yaml")), ids=_name)
def test_every_scorer_stands_under_its_own_name(path: Path) -> None:
    """Several scorers fit into one run because each has its own package."""
    assert path.read_text().splitlines()[0] == f"# @package scorers.{path.stem}"
