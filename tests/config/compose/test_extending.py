from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.config.compose import Composed, compose_settings
from skilleval.errors import ConfigError

Compose = Callable[..., Composed]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_file_of_a_shipped_name_changes_only_what_it_says(project: Path, composing: Compose) -> None:
    """One key in a user's file is one changed setting; all others keep their shipped values."""
    _write(project / "conf/runner/default.yaml", "repeats: 7\n")
    _write(project / "conf/analysis/default.yaml", "composite: {speed: 0.0}\n")
    settings = composing().settings
    assert (settings.runner.repeats, settings.runner.concurrency) == (7, 4)
    assert (settings.analysis.composite.speed, settings.analysis.composite.completion) == (0.0, 0.5)


def test_lists_are_replaced_as_a_whole(project: Path, composing: Compose) -> None:
    """A list of a user's is that list, not one more entry."""
    _write(project / "conf/report/default.yaml", "formats: [html]\n")
    assert composing().settings.report.formats == ("html",)


def test_a_file_keeps_the_place_of_the_one_it_extends(project: Path, composing: Compose) -> None:
    """The header and the defaults list of the shipped file hold where the user's file has none."""
    _write(project / "conf/scorer/exact.yaml", "strip: false\n")
    _write(project / "conf/scorer/task.yaml", "fallback: contains\n")
    alone = composing("scorer=exact").settings.scorers["exact"]
    assert (alone.options["strip"], alone.options["case_sensitive"]) == (False, True)
    task = composing().settings.scorers["task"].options
    assert task["fallback"] == "contains"
    assert task["exact"]["strip"] is False


def test_a_file_with_a_defaults_list_stands_alone(project: Path, composing: Compose) -> None:
    """A defaults list of its own is Hydra's way: nothing behind the file is used."""
    _write(project / "conf/runner/default.yaml", "defaults: [_self_]\nrepeats: 7\n")
    with pytest.raises(ConfigError) as caught:
        composing()
    assert {"runner.concurrency", "runner.seed"} <= {one.key for one in caught.value.problems}


def test_the_primary_config_can_be_extended(project: Path, composing: Compose) -> None:
    """A user's `eval.yaml` without a defaults list keeps the shipped table of contents."""
    _write(project / "conf/eval.yaml", "experiment_name: mine\n")
    assert composing().settings.experiment_name == "mine"


def test_a_found_benchmark_can_be_extended(project: Path, composing: Compose) -> None:
    """A file named like a benchmark adds to the option that is there without any file."""
    _write(project / "conf/benchmark/coding-easy.yaml", "tasks: mine.json\n")
    benchmark = composing().settings.benchmark
    assert (benchmark.name, benchmark.tasks) == ("coding-easy", "mine.json")


def test_an_extended_experiment_still_decides_its_groups(project: Path, composing: Compose) -> None:
    """What the shipped experiment chooses beats the settings files, also where a user's file changes a value."""
    _write(project / "conf/experiment/demo.yaml", "runner: {repeats: 8}\n")
    _write(project / "skilleval.yaml", "skill_set: {paths: [mine]}\n")
    settings = composing("+experiment=demo", skills=False).settings
    assert (settings.skill_set.name, settings.runner.repeats) == ("examples", 8)


def test_folders_are_laid_over_each_other(project: Path, user_file: Path, tmp_path: Path) -> None:
    """A named config folder beats the project's `conf/`, which beats the shipped one, key by key."""
    _write(project / "conf/runner/default.yaml", "repeats: 7\nretries: 7\n")
    _write(tmp_path / "extra/runner/default.yaml", "repeats: 8\n")
    folders = [tmp_path / "extra"]
    composed = compose_settings(
        ["skill_set=examples"], project=project, user_file=user_file, config_dirs=folders
    )
    runner = composed.settings.runner
    assert (runner.repeats, runner.retries, runner.concurrency) == (8, 7, 4)


@pytest.mark.parametrize(
    ("text", "where", "found"),
    [
        ("- a\n", "default.yaml", "- a"),
        ("repeats: [\n", "default.yaml:2:1", "the end of the file, where a value should stand"),
        ("# @package\nrepeats: 7\n", "default.yaml", "# @package"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    project: Path, composing: Compose, text: str, where: str, found: str
) -> None:
    """A list, broken YAML or a broken header is an error with the file."""
    _write(project / "conf/runner/default.yaml", text)
    with pytest.raises(ConfigError) as caught:
        composing()
    (problem,) = caught.value.problems
    assert problem.where == str(project / "conf/runner" / where)
    assert problem.found == found


def test_options_of_both_folders_are_known(project: Path, composing: Compose) -> None:
    """The nearest name is looked for among a user's options and the shipped ones."""
    _write(project / "conf/runner/nightly.yaml", "repeats: 9\n")
    for wrong, right in (("nightli", "nightly"), ("defaultx", "default")):
        with pytest.raises(ConfigError, match=f"did you mean {right}"):
            composing(f"runner={wrong}")
