from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.config.layers import parse_value, setting, setting_list, where
from skilleval.config.request import Request
from skilleval.errors import ConfigError

RequestFor = Callable[..., Request]

_PROJECT = """\
# ours
defaults:
  - override /scorer: exact  # strict
runner:
  repeats: 2   # twice
scorers:
  exact: {strip: false}
"""


@pytest.fixture
def project_file(project: Path) -> Path:
    """The project's settings file with some settings in it."""
    path = project / "skilleval.yaml"
    path.write_text(_PROJECT)
    return path


def test_every_setting_has_its_layer_and_source(project_file: Path, request_for: RequestFor) -> None:
    """Each leaf of the composed config is traced to the file or override that gives it."""
    found = {one.key: one for one in setting_list(request_for("runner.retries=1"))}
    assert (found["runner.repeats"].value, found["runner.repeats"].layer) == (2, "project file")
    assert found["runner.repeats"].source == str(project_file)
    assert (found["runner.retries"].layer, found["runner.retries"].source) == (
        "command line",
        "runner.retries=1",
    )
    assert found["runner.jitter"].layer == "shipped"
    assert found["runner.jitter"].source.endswith("conf/runner/default.yaml")
    assert found["benchmark.name"].source.endswith("benchmarks/coding-easy/benchmark.json")
    assert found["scorers.exact.strip"].layer == "project file"
    assert found["scorers.exact.tolerance"].source.endswith("conf/scorer/exact.yaml")
    assert not any(key.startswith(("hydra", "defaults")) for key in found)


def test_a_missing_value_is_listed_as_missing(request_for: RequestFor) -> None:
    """Settings can be looked at before everything is set."""
    (paths,) = setting(request_for(), "skill_set.paths")
    assert (paths.value, paths.layer) == ("???", "shipped")


def test_a_setting_is_given_resolved(request_for: RequestFor) -> None:
    """References between settings are followed."""
    (one,) = setting(request_for("experiment_name=mine"), "paths.output_dir")
    assert one.value == "outputs/mine"


def test_all_settings_below_a_key_are_given(request_for: RequestFor) -> None:
    """A key with settings below it gives those, behind the option that is chosen."""
    keys = [one.key for one in setting(request_for(), "gate")]
    leaves = ("min_completion", "exit_on_fail", "fail_on_error", "rules")
    assert keys == ["gate", *(f"gate.{leaf}" for leaf in leaves)]


@pytest.mark.usefixtures("project_file")
def test_where_gives_every_layer_in_order(user_file: Path, request_for: RequestFor) -> None:
    """All that is said about a key is listed, weakest first; the last one is in force."""
    user_file.parent.mkdir()
    user_file.write_text("runner: {repeats: 5}\n")
    said = where(request_for("runner.repeats=9"), "runner.repeats")
    assert [(one.layer, one.value) for one in said] == [
        ("shipped", 1),
        ("user file", 5),
        ("project file", 2),
        ("command line", 9),
    ]


def test_a_projects_conf_is_a_layer_of_its_own(project: Path, request_for: RequestFor) -> None:
    """What a file of the project's `conf/` says is not taken for shipped."""
    path = project / "conf" / "gate" / "default.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("min_completion: 0.5\nexit_on_fail: true\nfail_on_error: false\n")
    (one,) = setting(request_for(), "gate.exit_on_fail")
    assert (one.value, one.layer, one.source) == (True, "project conf", str(path))


def test_a_file_of_a_shipped_name_is_seen_over_the_shipped_one(
    project: Path, request_for: RequestFor
) -> None:
    """Of a file that extends another one, each key is traced to the file that says it."""
    path = project / "conf" / "runner" / "default.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("repeats: 7\n")
    said = where(request_for(), "runner.repeats")
    assert [(one.layer, one.value) for one in said] == [("shipped", 1), ("project conf", 7)]
    (other,) = setting(request_for(), "runner.retries")
    assert other.source.endswith("conf/runner/default.yaml")
    assert (other.layer, other.source == str(path)) == ("shipped", False)


@pytest.mark.usefixtures("project_file")
def test_the_choice_of_a_group_is_given(request_for: RequestFor) -> None:
    """A group as key gives the option that is in force, with the layer that chooses it."""
    (chosen,) = setting(request_for(), "scorer")
    assert (chosen.key, chosen.value, chosen.layer) == ("scorer", "exact", "project file")
    (several,) = setting(request_for("scorer=[exact,contains]"), "scorer")
    assert (several.value, several.layer) == (["exact", "contains"], "command line")


@pytest.mark.usefixtures("project_file")
def test_every_choice_of_a_group_is_given_in_order(user_file: Path, request_for: RequestFor) -> None:
    """All who choose an option of a group are listed, weakest first."""
    user_file.parent.mkdir()
    user_file.write_text("defaults: [{override scorer: [contains]}]\n")
    said = where(request_for("scorer=task"), "scorer")
    assert [(one.layer, one.value) for one in said] == [
        ("shipped", "task"),
        ("user file", ["contains"]),
        ("project file", "exact"),
        ("command line", "task"),
    ]


def test_an_experiment_chooses_before_the_command_line(request_for: RequestFor) -> None:
    """What an experiment chooses is told with its file."""
    said = where(request_for("+experiment=demo"), "skill_set")
    chosen = [(one.value, Path(one.source).name) for one in said if one.key == "skill_set"]
    assert chosen == [("paths", "eval.yaml"), ("examples", "demo.yaml")]


@pytest.mark.parametrize("look", [setting, where])
def test_a_group_without_a_choice_is_said(
    request_for: RequestFor, look: Callable[[Request, str], Any]
) -> None:
    """A group of which nothing is in use is answered with how to choose."""
    with pytest.raises(ConfigError, match=r"\+experiment=OPTION"):
        look(request_for(), "experiment")


def test_two_scorers_in_one_block_are_not_listed_as_one(project: Path, request_for: RequestFor) -> None:
    """Looking at settings refuses what a run would refuse."""
    path = project / "conf" / "scorer" / "mine.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("# @package scorers.exact\nkind: exact\n")
    with pytest.raises(ConfigError, match=r"scorers\.mine"):
        setting_list(request_for("scorer=[exact,mine]"))


@pytest.mark.parametrize(("key", "hint"), [("runner.repeat", "repeats"), ("scorrer", "scorer")])
@pytest.mark.parametrize("look", [setting, where])
def test_an_unknown_key_is_answered_with_the_nearest(
    request_for: RequestFor, look: Callable[[Request, str], Any], key: str, hint: str
) -> None:
    """Looking a misspelt key or group up names the right one."""
    with pytest.raises(ConfigError, match=rf"did you mean {hint}\?"):
        look(request_for(), key)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("null", None),
        ("~", None),
        ("words", "words"),
        ("", ""),
        ("[a, b]", ["a", "b"]),
        ('{"a": 1}', {"a": 1}),
        ("{a: 1}", {"a": 1}),
        ('"5"', "5"),
        ("'5'", "5"),
        ("a: b", "a: b"),
        ("# x", "# x"),
        ("a # b", "a # b"),
        ("- a", "- a"),
        ("[1", "[1"),
        ("2026-11-01", "2026-11-01"),
    ],
)
def test_a_value_given_as_text_is_json_or_a_yaml_scalar(text: str, value: Any) -> None:
    """One word is what YAML says it is; what is more than one value stays the text."""
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)


def test_a_hint_names_each_key_once(request_for: RequestFor) -> None:
    """Most groups are named like the settings below them: they are listed once all the same."""
    with pytest.raises(ConfigError) as caught:
        setting(request_for(), "nosuch")
    names = caught.value.problems[0].hint.removeprefix("known: ").split(", ")
    assert "runner" in names
    assert len(names) == len(set(names))
