from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.config.compose import Composed, compose_settings
from skilleval.config.request import Request, default_user_file
from skilleval.errors import ConfigError

Compose = Callable[..., Composed]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_layers_win_in_their_order(project: Path, user_file: Path, composing: Compose) -> None:
    """Command line beats project file beats user file beats shipped defaults, key by key."""
    _write(user_file, "runner: {repeats: 2, retries: 2, concurrency: 2}\n")
    _write(project / "skilleval.yaml", "runner: {repeats: 3, retries: 3}\n")
    runner = composing("runner.repeats=4").settings.runner
    assert (runner.repeats, runner.retries, runner.concurrency, runner.timeout_ms) == (4, 3, 2, 30000)


def test_c_file_replaces_the_project_file(tmp_path: Path, project: Path, user_file: Path) -> None:
    """A file that was named is read instead of `skilleval.yaml`, not beside it."""
    _write(project / "skilleval.yaml", "runner: {repeats: 3, retries: 3}\n")
    _write(tmp_path / "own.yaml", "runner: {repeats: 5}\nskill_set: {paths: [a]}\n")
    composed = compose_settings([], project=project, user_file=user_file, config_file=tmp_path / "own.yaml")
    assert (composed.settings.runner.repeats, composed.settings.runner.retries) == (5, 0)
    assert composed.settings.skill_set.paths == ("a",)


def test_a_file_that_was_named_must_exist(tmp_path: Path, project: Path, user_file: Path) -> None:
    """`-c FILE` without such a file is an error, not silence."""
    with pytest.raises(ConfigError, match=r"nowhere\.yaml"):
        compose_settings([], project=project, user_file=user_file, config_file=tmp_path / "nowhere.yaml")


@pytest.mark.parametrize("entry", ["override /scorer", "override scorer"])
def test_a_file_may_choose_options_of_groups(project: Path, composing: Compose, entry: str) -> None:
    """The defaults list of a settings file chooses options, beside the values it sets."""
    _write(
        project / "skilleval.yaml",
        f"defaults:\n  - {entry}: exact\nscorers: {{exact: {{strip: false}}}}\n",
    )
    scorers = composing().settings.scorers
    assert list(scorers) == ["exact"]
    assert scorers["exact"].options["strip"] is False


def test_the_projects_choice_beats_the_users(project: Path, user_file: Path, composing: Compose) -> None:
    """Where both files choose an option, the project's holds."""
    _write(user_file, "defaults:\n  - override /scorer: contains\n")
    _write(project / "skilleval.yaml", "defaults:\n  - override /scorer: exact\n")
    assert list(composing().settings.scorers) == ["exact"]


@pytest.mark.parametrize("choice", ["scorer=contains", "scorer=[contains]"])
def test_a_choice_on_the_command_line_drops_what_files_say_of_the_group(
    project: Path, composing: Compose, choice: str
) -> None:
    """A group chosen on the command line is exactly that option: values for another one do not leak in."""
    _write(
        project / "skilleval.yaml",
        "defaults:\n  - override /scorer: exact\nscorers: {exact: {strip: false}}\nrunner: {repeats: 2}\n",
    )
    settings = composing(choice).settings
    assert list(settings.scorers) == ["contains"]
    assert settings.runner.repeats == 2


def test_an_experiment_beats_the_files(project: Path, composing: Compose) -> None:
    """What an experiment chooses or sets is not undone by a settings file: `demo` runs the example skills."""
    _write(project / "skilleval.yaml", "skill_set: {paths: [mine]}\nrunner: {repeats: 9, retries: 9}\n")
    settings = composing("+experiment=demo", skills=False).settings
    assert settings.skill_set.name == "examples"
    assert "examples/skills" in settings.skill_set.paths[0]
    assert (settings.runner.repeats, settings.runner.retries) == (3, 9)


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ("runner: {repeat: 3}\n", "runner.repeat", "did you mean repeats?"),
        ("runer: {repeats: 3}\n", "runer", "did you mean runner?"),
        (
            "adapter: {subprocess: {max_bytes: 3}}\n",
            "adapter.subprocess.max_bytes",
            "did you mean max_output_bytes?",
        ),
    ],
)
def test_an_unknown_key_names_its_file(
    project: Path, composing: Compose, text: str, key: str, hint: str
) -> None:
    """A misspelt key in a settings file is refused with that file and the nearest right name."""
    _write(project / "skilleval.yaml", text)
    with pytest.raises(ConfigError) as caught:
        composing()
    (problem,) = caught.value.problems
    assert (problem.where, problem.key, problem.hint) == (str(project / "skilleval.yaml"), key, hint)


def test_a_wrong_value_names_its_file(user_file: Path, composing: Compose) -> None:
    """A value out of range is traced to the file that sets it."""
    _write(user_file, "runner: {repeats: 0}\n")
    with pytest.raises(ConfigError) as caught:
        composing()
    assert [(one.where, one.key) for one in caught.value.problems] == [(str(user_file), "runner.repeats")]


def test_a_wrong_choice_names_its_file(project: Path, composing: Compose) -> None:
    """An option that does not exist is traced to the file that chooses it."""
    _write(project / "skilleval.yaml", "defaults:\n  - override /scorer: exakt\n")
    with pytest.raises(ConfigError) as caught:
        composing()
    (problem,) = caught.value.problems
    assert (problem.where, problem.hint) == (str(project / "skilleval.yaml"), "did you mean exact?")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("defaults:\n  - override /scorrer: exact\n", r"did you mean scorer\?"),
        ("defaults: exact\n", r"skilleval\.yaml: defaults: expected a list"),
        ("defaults: [exact]\n", r"skilleval\.yaml: defaults: expected override /GROUP: OPTION"),
        ("defaults:\n  - scorer: exact\n", r"skilleval\.yaml: defaults: expected override /scorer: OPTION"),
        ("defaults: [{}]\n", r"skilleval\.yaml: defaults: expected one group"),
        ("defaults: [{override /scorer: 5}]\n", r"skilleval\.yaml: defaults: expected one group"),
        ("defaults: [{override /experiment: demo}]\n", r"command line: \+experiment=NAME"),
        ("defaults: [{override /scorer: [exact, containz]}]\n", r"did you mean contains\?"),
        ("hydra: {nothing: 1}\n", r"hydra\.nothing: expected a key of Hydra's own, found nothing"),
        ("hydra: 5\n", r"skilleval\.yaml: expected a mapping, found 5"),
        ("report: {title: '${a b'}\n", r"report\.title: expected a value, found a reference"),
        ("report: {title: '${nothing}'}\n", r"skilleval\.yaml: report\.title"),
    ],
)
def test_what_hydra_refuses_in_a_file_is_said_in_our_words(
    project: Path, composing: Compose, text: str, said: str
) -> None:
    """A defaults list, a key of Hydra's or a reference that cannot be used is an error with its reason."""
    _write(project / "skilleval.yaml", text)
    with pytest.raises(ConfigError, match=said) as caught:
        composing()
    assert "project_file" not in str(caught.value)
    assert "Hydra says" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ("scorer: exact\n", "scorer", "defaults: [{override /scorer: exact}]"),
        ("scorer: [exact, contains]\n", "scorer", "defaults: [{override /scorer: [exact, contains]}]"),
        ("analysis: eval_skills\n", "analysis", "defaults: [{override /analysis: eval_skills}]"),
        ("experiment: demo\n", "experiment", "on the command line: +experiment=demo"),
    ],
)
def test_an_option_written_as_a_value_is_answered_with_how_to_choose(
    project: Path, composing: Compose, text: str, key: str, hint: str
) -> None:
    """`scorer: exact` in a settings file says nothing; the error shows the line that chooses."""
    _write(project / "skilleval.yaml", text)
    with pytest.raises(ConfigError) as caught:
        composing()
    (problem,) = caught.value.problems
    assert (problem.where, problem.key) == (str(project / "skilleval.yaml"), key)
    assert problem.hint.endswith(hint)


def test_options_of_a_scorer_that_was_not_chosen_are_answered(project: Path, composing: Compose) -> None:
    """Options without their scorer say how to choose it."""
    _write(project / "skilleval.yaml", "scorers: {exact: {strip: false}}\n")
    with pytest.raises(ConfigError, match=r"defaults: \[{override /scorer: exact}\]"):
        composing()


def test_of_two_choices_in_one_list_the_first_holds(project: Path, composing: Compose) -> None:
    """Hydra's rule, on which telling who chose relies."""
    _write(
        project / "skilleval.yaml", "defaults: [{override /scorer: exact}, {override /scorer: contains}]\n"
    )
    assert list(composing().settings.scorers) == ["exact"]


def test_bad_yaml_names_file_and_line(project: Path, composing: Compose) -> None:
    """A settings file that is no YAML is said with its line."""
    _write(project / "skilleval.yaml", "runner:\n  repeats: 3\n  retries: [1\n")
    with pytest.raises(ConfigError, match=r"skilleval\.yaml:4:1"):
        composing()


@pytest.mark.parametrize("text", ["- a\n- b\n", "just words\n", "7\n"])
def test_a_settings_file_is_a_mapping(project: Path, composing: Compose, text: str) -> None:
    """A list, a text or a number is no settings file."""
    _write(project / "skilleval.yaml", text)
    with pytest.raises(ConfigError, match=r"skilleval\.yaml"):
        composing()


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n"])
def test_an_empty_file_says_nothing(project: Path, composing: Compose, text: str) -> None:
    """A file without a setting changes nothing."""
    _write(project / "skilleval.yaml", text)
    assert composing().settings.runner.repeats == 1


def test_a_file_that_is_no_text_is_said(project: Path, composing: Compose) -> None:
    """Bytes that are not UTF-8 are refused with the file."""
    (project / "skilleval.yaml").write_bytes(b"runner: \xff\n")
    with pytest.raises(ConfigError, match="UTF-8"):
        composing()


def test_a_file_may_set_a_scorer_of_its_own_name(project: Path, composing: Compose) -> None:
    """The same kind may be used twice under two names."""
    _write(project / "skilleval.yaml", "scorers: {loose: {kind: exact, tolerance: 0.1}}\n")
    assert composing().settings.scorers["loose"].options == {"tolerance": 0.1}


def test_a_kind_from_elsewhere_brings_its_own_options(project: Path, composing: Compose) -> None:
    """Options of a kind that no shipped file has are left to the model of that kind."""
    _write(project / "skilleval.yaml", "adapter: {kind: 'mine:Adapter', url: here}\n")
    assert composing().settings.adapter.options["url"] == "here"


def test_the_users_file_is_in_the_users_configuration_folder(project: Path) -> None:
    """Unless told otherwise, the user's file is `skilleval/config.yaml` where such files are kept."""
    assert default_user_file().parts[-2:] == ("skilleval", "config.yaml")
    assert Request(project=project).user_file is None
