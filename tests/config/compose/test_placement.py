from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.app.sweeps import StoredLedger
from skilleval.config.compose import Composed, run_hydra
from skilleval.errors import ConfigError, Problem

Compose = Callable[..., Composed]

_EXACT = "kind: exact\ncase_sensitive: false\nstrip: true\ntolerance: 0.0\n"


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _problem(composing: Compose, *overrides: str) -> Problem:
    with pytest.raises(ConfigError, match="its own block") as caught:
        composing(*overrides)
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("header", "choice", "found"),
    [
        ("# @package scorers.exact\n", "[exact,exact_folded]", "# @package scorers.exact"),
        ("# @package scorers.exact\n", "exact_folded", "# @package scorers.exact"),
        ("# @package _global_\n", "exact_folded", "# @package _global_"),
        ("", "[exact,exact_folded]", "a file that does not begin with such a line"),
        (
            "# folded\n# @package scorers.exact_folded\n",
            "exact_folded",
            "a file that does not begin with such a line",
        ),
    ],
)
def test_a_scorer_that_would_stand_elsewhere_is_refused(
    project: Path, composing: Compose, header: str, choice: str, found: str
) -> None:
    """A copied, missing or late header would make two scorers one: the file and the line it needs are named."""
    path = _write(project / "conf/scorer/exact_folded.yaml", header + _EXACT)
    problem = _problem(composing, f"scorer={choice}")
    assert problem.where == str(path)
    assert problem.expected == "the first line # @package scorers.exact_folded"
    assert problem.found == found


def test_a_scorer_in_its_own_block_is_used_beside_the_shipped_one(project: Path, composing: Compose) -> None:
    """With its own header a copied scorer is a second scorer."""
    _write(project / "conf/scorer/exact_folded.yaml", f"# @package scorers.exact_folded\n{_EXACT}")
    scorers = composing("scorer=[exact,exact_folded]").settings.scorers
    assert {name: part.options["case_sensitive"] for name, part in scorers.items()} == {
        "exact": True,
        "exact_folded": False,
    }


def test_a_misplaced_scorer_that_nobody_chose_is_no_mistake(project: Path, composing: Compose) -> None:
    """Only options in use are looked at."""
    _write(project / "conf/scorer/exact_folded.yaml", _EXACT)
    assert list(composing().settings.scorers) == ["task"]


@pytest.mark.parametrize("path", ["conf/experiment/one.yaml", "skilleval.yaml"])
def test_it_does_not_matter_who_chose(project: Path, composing: Compose, path: str) -> None:
    """A scorer that an experiment or a settings file chooses is looked at like any other one."""
    _write(project / "conf/scorer/mine.yaml", f"# @package scorers.exact\n{_EXACT}")
    _write(project / path, "# @package _global_\ndefaults: [{override /scorer: mine}]\n")
    asked = ["+experiment=one"] if "experiment" in path else []
    assert "scorers.mine" in _problem(composing, *asked).expected


def test_an_experiment_needs_the_global_header(project: Path, composing: Compose) -> None:
    """Without its header an experiment would set nothing anybody reads."""
    path = _write(project / "conf/experiment/one.yaml", "runner: {repeats: 3}\n")
    problem = _problem(composing, "+experiment=one")
    assert (problem.where, problem.expected) == (str(path), "the first line # @package _global_")


def test_a_folder_that_hydra_searches_is_looked_at_too(tmp_path: Path, composing: Compose) -> None:
    """Options found through Hydra's own search path are held to the same rule."""
    path = _write(tmp_path / "more/scorer/mine.yaml", f"# @package scorers.exact\n{_EXACT}")
    problem = _problem(composing, f"hydra.searchpath=['file://{tmp_path / 'more'}']", "scorer=[exact,mine]")
    assert problem.where == str(path)


def test_two_options_in_one_block_are_refused(composing: Compose) -> None:
    """An option that is put into the block of another one by hand would vanish in it."""
    problem = _problem(composing, "scorer=exact", "+scorer@scorers.exact=contains")
    assert (problem.key, problem.found) == ("scorers.exact", "the block of scorer/exact")


def test_one_option_may_be_used_twice_in_two_blocks(composing: Compose) -> None:
    """A place of its own makes a second scorer out of one file."""
    scorers = composing("scorer=exact", "+scorer@scorers.loose=exact").settings.scorers
    assert list(scorers) == ["exact", "loose"]


def test_a_job_of_a_sweep_is_refused_too(project: Path, user_file: Path) -> None:
    """In a sweep only the job with the misplaced scorer ends."""
    _write(project / "conf/scorer/mine.yaml", f"# @package scorers.exact\n{_EXACT}")
    wrong, right = run_hydra(
        ["-m", "skill_set=examples", "scorer=mine,exact"],
        lambda composed: {"exit_code": 0, "scorers": list(composed.settings.scorers)},
        project=project,
        user_file=user_file,
        ledger=lambda folder: StoredLedger(folder=folder),
    )
    assert (wrong["exit_code"], right["exit_code"]) == (2, 0)
    assert "scorers.mine" in wrong["error"]


@pytest.mark.parametrize("where", ["override", "file"])
def test_an_option_chosen_twice_is_refused(project: Path, composing: Compose, where: str) -> None:
    """Hydra would take it once and say nothing: the run would have fewer scorers than were asked for."""
    path = _write(project / "skilleval.yaml", "defaults:\n  - override /scorer: [exact, contains, exact]\n")
    overrides = ["scorer=[exact,exact]"] if where == "override" else []
    with pytest.raises(ConfigError, match="chosen twice") as caught:
        composing(*overrides)
    (problem,) = caught.value.problems
    assert problem.where == (str(path) if where == "file" else "command line: scorer=[exact,exact]")
    assert (problem.key, problem.found) == ("scorer", "exact again")


def test_what_is_not_in_force_is_not_held_against_anybody(project: Path, composing: Compose) -> None:
    """A list of the file that the command line replaces chooses nothing."""
    _write(project / "skilleval.yaml", "defaults:\n  - override /scorer: [exact, exact]\n")
    assert list(composing("scorer=contains").settings.scorers) == ["contains"]
