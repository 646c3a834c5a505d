from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skilleval.config.changes import unset_setting, write_setting
from skilleval.config.compose.layer_files import read_mapping
from skilleval.config.layers import setting
from skilleval.config.request import Request
from skilleval.config.trees import at
from skilleval.errors import ConfigError, Problem

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
    """What was set is what the file says, with its type."""
    write_setting(project_file, key, value, request=request_for())
    assert at(read_mapping(project_file), key, "absent") == value


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("runner.repeat", 3, "did you mean repeats"),
        ("runner.repeats", 0, "greater than or equal to 1"),
        ("runner.repeats", "many", "a whole number"),
        ("scorers.exact.stripp", 1, "did you mean strip"),
        ("runner", 3, "an option of the group runner"),
        ("runner.repeats.deep", 3, "runner.repeats"),
        ("defaults", "x", r"defaults: expected a list"),
        ("runner", None, "a list of options"),
        ("scorer", [], "a list of options"),
        ("scorer", [["exact"]], "a list of options"),
        ("scorer", ["exact", "exact"], "each option once"),
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


@pytest.mark.parametrize(
    "key",
    [
        "",
        ".",
        "a..b",
        "runner.",
        ".runner",
        "[a",
        "a b",
        "a: b",
        "null",
        "runner.1",
        "runner.<<",
        "*x",
        "a\nb",
    ],
)
def test_what_is_no_key_is_refused_as_such(project_file: Path, request_for: RequestFor, key: str) -> None:
    """The sound file is not blamed for what would have been written into it; the same holds for taking it out."""
    with pytest.raises(ConfigError, match="there is no such setting"):
        write_setting(project_file, key, 3, request=request_for())
    with pytest.raises(ConfigError, match="there is nothing to unset"):
        unset_setting(project_file, key, request=request_for())
    assert project_file.read_text() == _PROJECT


def test_a_key_that_could_not_be_set_can_be_taken_out(project: Path, request_for: RequestFor) -> None:
    """However it came into the file: taking wrong keys out is how a file is mended."""
    path = project / "skilleval.yaml"
    path.write_text("runner: {repeats: 2}\n'a b': 1\n")
    unset_setting(path, "a b", request=request_for())
    assert path.read_text() == "runner: {repeats: 2}\n"


def test_who_uses_the_settings_has_the_last_word(project_file: Path, request_for: RequestFor) -> None:
    """What is accepted is asked with all values as they would be; a refusal names the file and changes nothing."""

    def refuse(values: Mapping[str, Any]) -> None:
        assert (values["report"]["formats"], values["runner"]["repeats"]) == (["pdf"], 2)
        raise ConfigError("no", problems=(Problem(where="config", key="report.formats[0]"),))

    with pytest.raises(ConfigError) as caught:
        write_setting(project_file, "report.formats", ["pdf"], request=request_for(), accept=refuse)
    assert [problem.where for problem in caught.value.problems] == [str(project_file)]
    assert project_file.read_text() == _PROJECT


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


@pytest.mark.usefixtures("project_file")
@pytest.mark.parametrize(("key", "value"), [("runner.repeats", "five"), ("runner.repeets", 5)])
def test_a_wrong_setting_is_refused_where_a_stronger_file_overrides_it(
    user_file: Path, request_for: RequestFor, key: str, value: Any
) -> None:
    """Whether a setting is right does not depend on what stronger layers say of it."""
    with pytest.raises(ConfigError, match=r"config\.yaml: runner"):
        write_setting(user_file, key, value, request=request_for("runner.repeats=3"))
    assert not user_file.exists()


def test_a_right_setting_is_written_below_a_wrong_stronger_file(
    project_file: Path, user_file: Path, request_for: RequestFor
) -> None:
    """A fault of the project is no reason to refuse what a user sets for all projects."""
    project_file.write_text("runner: {repeats: five}\n")
    write_setting(user_file, "runner.repeats", 3, request=request_for())
    assert user_file.read_text() == "runner:\n  repeats: 3\n"


def test_a_setting_may_build_on_a_weaker_file(
    project: Path, user_file: Path, request_for: RequestFor
) -> None:
    """Options of a scorer that the user's file chooses can be set in the project's."""
    user_file.parent.mkdir()
    user_file.write_text("defaults: [{override /scorer: exact}]\n")
    write_setting(project / "skilleval.yaml", "scorers.exact.strip", False, request=request_for())
    assert (project / "skilleval.yaml").read_text() == "scorers:\n  exact:\n    strip: false\n"


@pytest.mark.parametrize(
    ("group", "option", "line"),
    [
        ("scorer", ["exact", "contains"], "  - override /scorer: [exact, contains]  # strict\n"),
        ("analysis", "eval_skills", "  - override /analysis: eval_skills\n"),
    ],
)
def test_a_group_is_set_by_the_name_of_an_option(
    project_file: Path, request_for: RequestFor, group: str, option: Any, line: str
) -> None:
    """A choice stands in the defaults list, in place of an earlier one of the group, and is in force."""
    write_setting(project_file, group, option, request=request_for())
    assert line in project_file.read_text()
    assert project_file.read_text().count(f"/{group}:") == 1
    (chosen, *_) = setting(request_for(), group)
    assert (chosen.value, chosen.layer) == (option, "project file")


def test_a_group_of_settings_can_still_be_set_as_a_mapping(
    project_file: Path, request_for: RequestFor
) -> None:
    """A mapping is no option: it is the settings below the key."""
    write_setting(project_file, "runner", {"repeats": 4}, request=request_for())
    assert "runner: {repeats: 4}" in project_file.read_text()


@pytest.mark.parametrize(
    ("group", "option", "hint"),
    [
        ("scorer", "exakt", r"did you mean exact\?"),
        ("scorer", ["exact", "containz"], r"did you mean contains\?"),
        ("benchmark", "coding-eazy", r"did you mean coding-easy\?"),
        ("experiment", "demo", r"\+experiment=NAME"),
    ],
)
def test_an_unknown_option_leaves_the_file_untouched(
    project_file: Path, request_for: RequestFor, group: str, option: Any, hint: str
) -> None:
    """An option that does not exist is refused with the nearest one."""
    with pytest.raises(ConfigError, match=hint):
        write_setting(project_file, group, option, request=request_for())
    assert project_file.read_text() == _PROJECT


@pytest.mark.parametrize(
    ("key", "left"),
    [
        ("runner.repeats", _PROJECT.replace("runner:\n  repeats: 2   # twice\n", "")),
        ("scorers", _PROJECT.replace("scorers:\n  exact: {strip: false}\n", "")),
        ("scorers.exact.strip", _PROJECT.replace("scorers:\n  exact: {strip: false}\n", "")),
    ],
)
def test_a_key_is_taken_out_with_what_is_empty_without_it(
    project_file: Path, request_for: RequestFor, key: str, left: str
) -> None:
    """After `unset` the file reads as if the key had never been set."""
    unset_setting(project_file, key, request=request_for())
    assert project_file.read_text() == left


def test_the_choice_of_a_group_is_taken_back(project_file: Path, request_for: RequestFor) -> None:
    """Without its choice a group has the option of the weaker layers again; keys below it stay."""
    project_file.write_text("defaults: [{override /analysis: eval_skills}]\nanalysis: {k: 2}\n")
    unset_setting(project_file, "analysis", request=request_for())
    assert project_file.read_text() == "analysis: {k: 2}\n"
    unset_setting(project_file, "analysis", request=request_for())
    assert project_file.read_text() == ""


def test_what_would_be_wrong_without_a_choice_keeps_it(project_file: Path, request_for: RequestFor) -> None:
    """Options of a scorer cannot stay behind without it: the file is left as it was."""
    with pytest.raises(ConfigError, match="choose this scorer"):
        unset_setting(project_file, "scorer", request=request_for())
    assert project_file.read_text() == _PROJECT


def test_a_wrong_file_is_mended_key_by_key(project_file: Path, request_for: RequestFor) -> None:
    """A wrong key can be taken out although another one is still wrong."""
    project_file.write_text("runner: {repeets: 3, retrys: 3}\nscorer: exact\n")
    for key in ("runner.repeets", "scorer", "runner.retrys"):
        unset_setting(project_file, key, request=request_for())
    assert project_file.read_text() == ""


@pytest.mark.parametrize(
    ("key", "hint"), [("runner.repeat", r"did you mean runner\.repeats\?"), ("analysis", "known: ")]
)
def test_what_the_file_does_not_say_cannot_be_unset(
    project_file: Path, request_for: RequestFor, key: str, hint: str
) -> None:
    """A key that stands elsewhere or nowhere is refused, and the nearest one of the file is named."""
    with pytest.raises(ConfigError, match=f"nothing to unset(.|\n)*{hint}"):
        unset_setting(project_file, key, request=request_for())


def test_nothing_can_be_unset_where_there_is_no_file(user_file: Path, request_for: RequestFor) -> None:
    """`unset` makes no file."""
    with pytest.raises(ConfigError, match="it sets nothing"):
        unset_setting(user_file, "runner.repeats", request=request_for())
    assert not user_file.parent.exists()


def test_a_change_that_would_reach_further_is_refused(project_file: Path, request_for: RequestFor) -> None:
    """A value that another key stands for by an alias is not changed behind that key's back."""
    text = "scorers:\n  a: &same {kind: exact, strip: true, tolerance: 0.1}\n  b: *same\n"
    project_file.write_text(text)
    with pytest.raises(ConfigError, match="cannot be changed safely"):
        write_setting(project_file, "scorers.b.strip", False, request=request_for())
    with pytest.raises(ConfigError, match="cannot be changed safely"):
        unset_setting(project_file, "scorers.b.strip", request=request_for())
    assert project_file.read_text() == text
