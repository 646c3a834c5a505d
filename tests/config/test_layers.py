from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.config.layers import parse_value, setting, setting_list, where, write_setting
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
    """A key with settings below it gives those."""
    keys = [one.key for one in setting(request_for(), "gate")]
    assert keys == ["gate.min_completion", "gate.exit_on_fail", "gate.fail_on_error"]


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


@pytest.mark.parametrize("look", [setting, where])
def test_an_unknown_key_is_answered_with_the_nearest(
    request_for: RequestFor, look: Callable[[Request, str], Any]
) -> None:
    """Looking a misspelt key up names the right one."""
    with pytest.raises(ConfigError, match="did you mean repeats"):
        look(request_for(), "runner.repeat")


def test_setting_a_value_keeps_the_rest_of_the_file(project_file: Path, request_for: RequestFor) -> None:
    """Only the value changes: comments, order and style stay."""
    write_setting(project_file, "runner.repeats", 4, request=request_for())
    assert project_file.read_text() == _PROJECT.replace("repeats: 2 ", "repeats: 4 ")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("report.title", "yes"),
        ("report.title", "1.0"),
        ("report.formats", ["json", "html"]),
        ("scorers.exact.tolerance", 0.5),
        ("report.title", None),
        ("skill_set.paths", ["a: b", "# c"]),
    ],
)
def test_a_value_that_was_set_is_read_back(
    project_file: Path, request_for: RequestFor, key: str, value: Any
) -> None:
    """What was set is in force, with its type."""
    write_setting(project_file, key, value, request=request_for())
    (one,) = setting(request_for(), key)
    assert (one.value, one.layer) == (value, "project file")


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("runner.repeat", 3, "did you mean repeats"),
        ("runner.repeats", 0, "greater than or equal to 1"),
        ("runner.repeats", "many", "valid integer"),
        ("scorers.exact.stripp", 1, "did you mean strip"),
        ("runner", 3, "RunnerSettings"),
        ("runner.repeats.deep", 3, "runner.repeats"),
        ("defaults", "x", "skilleval.yaml|defaults"),
    ],
)
def test_a_wrong_setting_leaves_the_file_untouched(
    project_file: Path, request_for: RequestFor, key: str, value: Any, hint: str
) -> None:
    """An unknown key or a bad value is refused, and nothing is written."""
    with pytest.raises(ConfigError, match=hint):
        write_setting(project_file, key, value, request=request_for())
    assert project_file.read_text() == _PROJECT
    assert [path.name for path in project_file.parent.iterdir()] == ["skilleval.yaml"]


def test_the_users_file_is_made_where_there_is_none(user_file: Path, request_for: RequestFor) -> None:
    """The first setting of a user makes the folder and the file."""
    write_setting(user_file, "runner.jitter", 0.25, request=request_for())
    assert user_file.read_text() == "runner:\n  jitter: 0.25\n"


def test_only_a_file_that_is_read_can_be_written(tmp_path: Path, request_for: RequestFor) -> None:
    """A setting in a file that nobody reads would have no effect, so it is refused."""
    with pytest.raises(ConfigError, match="not read as settings"):
        write_setting(tmp_path / "other.yaml", "runner.repeats", 2, request=request_for())


def test_a_linked_file_stays_a_link(tmp_path: Path, project: Path, request_for: RequestFor) -> None:
    """Settings kept elsewhere and linked are changed where they are."""
    real = tmp_path / "dotfiles.yaml"
    real.write_text("runner: {repeats: 2}\n")
    link = project / "skilleval.yaml"
    link.symlink_to(real)
    write_setting(link, "runner.repeats", 3, request=request_for())
    assert link.is_symlink()
    assert real.read_text() == "runner: {repeats: 3}\n"


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
