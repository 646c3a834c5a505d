from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.config.compose import Composed, compose_settings
from skilleval.errors import ConfigError, Problem

Compose = Callable[..., Composed]


def _problem(composing: Compose, *overrides: str, skills: bool = True) -> Problem:
    with pytest.raises(ConfigError) as caught:
        composing(*overrides, skills=skills)
    assert len(caught.value.problems) == 1, caught.value
    return caught.value.problems[0]


def test_the_defaults_are_those_of_conf(composing: Compose) -> None:
    """Without a word of the user, the settings are what the shipped files say."""
    settings = composing().settings
    assert settings.experiment_name == "default"
    assert settings.benchmark.name == "coding-easy"
    assert settings.adapter.kind == "auto"
    assert settings.adapter.options["subprocess"] == {"max_output_bytes": 1_000_000}
    assert settings.sandbox.options["pass_env"] == []
    assert (settings.runner.repeats, settings.runner.concurrency, settings.runner.timeout_ms) == (1, 4, 30000)
    assert settings.gate.min_completion == 0.7
    assert settings.report.formats == ("json", "markdown")
    assert settings.paths.output_dir == "outputs/default"


def test_every_scorer_stands_under_its_name(composing: Compose) -> None:
    """A list of scorers puts several into one run; each has the options of its own file."""
    scorers = composing("scorer=[exact,contains]").settings.scorers
    assert list(scorers) == ["exact", "contains"]
    assert scorers["exact"].options == {"case_sensitive": True, "strip": True, "tolerance": 0.0}
    assert scorers["contains"].options["case_sensitive"] is False
    assert "kind" not in scorers["contains"].options


def test_the_task_scorer_takes_the_options_of_the_files_of_others(composing: Compose) -> None:
    """Defaults of a scorer stand once: the task scorer's blocks equal what the scorers say alone."""
    plain = ("exact", "contains", "custom", "regex", "json_schema", "numeric")
    kinds = (*plain, "llm_judge", "tool_calls", "script", "files", "evals")
    alone = composing(f"scorer=[{','.join(kinds)}]").settings.scorers
    blocks = dict(composing().settings.scorers["task"].options)
    blocks["evals"] = {
        name: {key: value for key, value in block.items() if key != "kind"}  # told twice, two levels down
        for name, block in blocks["evals"].items()
    }
    assert blocks == {"fallback": "exact"} | {kind: alone[kind].options for kind in kinds}


def test_one_scorer_replaces_the_default_one(composing: Compose) -> None:
    """`scorer=X` leaves X alone in the run."""
    assert list(composing("scorer=exact").settings.scorers) == ["exact"]


def test_a_missing_value_is_said_right_after_composing(composing: Compose) -> None:
    """Skills that nobody named are reported with the options that name them."""
    problem = _problem(composing, skills=False)
    assert problem.key == "skill_set.paths"
    assert problem.where.endswith("conf/skill_set/paths.yaml")
    assert "--skills PATH" in problem.hint
    assert "skill_set=examples" in problem.hint


def test_all_missing_values_are_said_at_once(composing: Compose) -> None:
    """One error names every value that is still missing."""
    with pytest.raises(ConfigError, match="2 settings are missing") as caught:
        composing("adapter=replay", skills=False)
    assert [problem.key for problem in caught.value.problems] == ["adapter.path", "skill_set.paths"]


@pytest.mark.parametrize(
    ("override", "key", "hint"),
    [
        ("runner.repeat=2", "runner.repeat", "did you mean repeats?"),
        ("runer.repeats=2", "runer.repeats", "did you mean runner?"),
        ("+runner.repeat=2", "runner.repeat", "did you mean repeats?"),
        ("+new.key=1", "new", "known: "),
        ("+adapter.subprocess.max_bytes=1", "adapter.subprocess.max_bytes", "did you mean max_output_bytes?"),
        ("+scorers.task.exact.strict=true", "scorers.task.exact.strict", "did you mean strip?"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_one(
    composing: Compose, override: str, key: str, hint: str
) -> None:
    """A misspelt key is an error that names the right one, also where `+` forces it in."""
    problem = _problem(composing, override)
    assert problem.key == key
    assert problem.where.startswith("command line")
    assert problem.hint.startswith(hint)


@pytest.mark.parametrize(
    ("override", "key", "found", "hint"),
    [
        ("scorer=exakt", "scorer", "exakt", "did you mean exact?"),
        ("benchmark=coding-eazy", "benchmark", "coding-eazy", "did you mean coding-easy?"),
    ],
)
def test_an_unknown_option_is_refused_with_the_nearest_one(
    composing: Compose, override: str, key: str, found: str, hint: str
) -> None:
    """A misspelt option of a group is an error that names the right one."""
    problem = _problem(composing, override)
    assert (problem.key, problem.found, problem.hint) == (key, found, hint)


@pytest.mark.parametrize(
    "override",
    [
        "runner.repeats=0",
        "runner.jitter=nan",
        "gate.exit_on_fail='yes'",
        "experiment_name=../out",
    ],
)
def test_a_wrong_value_is_refused_with_its_override(composing: Compose, override: str) -> None:
    """A value out of its range or of another type names the key, and the override that gave it."""
    problem = _problem(composing, override)
    assert problem.key.startswith(override.partition("=")[0])
    assert problem.where == f"command line: {override}"
    assert problem.expected


@pytest.mark.parametrize(
    ("override", "key", "expected", "found"),
    [
        ("runner.repeats=[", "runner.repeats=[", "key=value", "the value ["),
        ("nothing", "nothing", "key=value", "no equals sign"),
        ("runner.repeats=1,2", "runner.repeats", "one value", "several: 1,2"),
        ("runner.repeats=range(3)", "runner.repeats", "one value", "several: range(3)"),
        ("scorer=1", "scorer", "an option of the group scorer", "1"),
        ("scorer=[1]", "scorer", "an option of the group scorer", "[1]"),
        ("adapter=null", "adapter", "an option of the group adapter", "null"),
        ("scorer=[exact,containz]", "scorer", "an option of the group scorer", "containz"),
        ("experiment=demo", "experiment", "a group that is in use", ""),
        ("hydra.nothing=1", "hydra.nothing", "a key of Hydra's own", ""),
        ("hydra.mode=often", "hydra.mode", "one of RUN, MULTIRUN", "often"),
        ("hydra.job.chdir=often", "hydra.job.chdir", "true or false", "often"),
        ("hydra.job.num=often", "hydra.job.num", "a number", "often"),
        ("hydra.searchpath=5", "hydra.searchpath", "a list of folders", "5"),
        ("report.title=${report.title}", "report.title", "a value", "a reference that leads back to itself"),
        ("report.title=${nothing}", "report.title", "a reference to a setting that is there", "${nothing}"),
        (
            "report.title=${oc.env:SKILLEVAL_SURELY_UNSET}",
            "report.title",
            "the environment variable SKILLEVAL_SURELY_UNSET",
            "that it is not set",
        ),
        ("~nothing", "nothing", "a setting that is there", "that there is none to delete"),
        ("~scorer=exact", "scorer", "the option in use behind ~", "that another one is in use"),
        ("+runner.repeats=3", "runner.repeats", "a new key behind +", "a setting that is there already"),
        ("runner={repeets: 3}", "runner.repeets", "a known key", "repeets"),
        ("runner.repeats.deep=3", "runner.repeats.deep", "a known key", "deep"),
        ("scorers=exact", "scorers", "a mapping", '"exact"'),
        ("report.formats=json", "report.formats", "a list", '"json"'),
        ("skill_set.paths=[]", "skill_set.paths", "at least one entry", "[]"),
        ("runner.repeats=null", "runner.repeats", "a whole number", "null"),
        ("runner.timeout_ms=-1", "runner.timeout_ms", "a number greater than 0", "-1"),
        ("analysis.preset=other", "analysis.preset", "default or eval_skills", '"other"'),
    ],
)
def test_what_hydra_and_the_models_refuse_is_said_in_plain_words(
    composing: Compose, override: str, key: str, expected: str, found: str
) -> None:
    """No exception, no class name and no advice of a library leaks: what was expected and found are plain words."""
    problem = _problem(composing, override)
    assert (problem.key, problem.expected, problem.found) == (key, expected, found)
    assert problem.where.startswith(("command line", "config"))


@pytest.mark.parametrize("override", ["adapter.subprocess.kind=other", "~runner", "scorers.task=5"])
def test_rare_mistakes_are_config_errors_too(composing: Compose, override: str) -> None:
    """What has no words of its own is still an error with a problem, and quotes the library as such."""
    with pytest.raises(ConfigError) as caught:
        composing(override)
    assert caught.value.problems
    assert "HYDRA_FULL_ERROR" not in str(caught.value)
    assert "hydra.cc" not in str(caught.value)
    assert "Settings" not in str(caught.value)


def test_a_group_without_a_place_is_said_with_its_plus(composing: Compose) -> None:
    """`experiment=demo` is answered with the form that works."""
    assert _problem(composing, "experiment=demo").hint == "write +experiment=OPTION"


def test_weights_need_a_sum(composing: Compose) -> None:
    """A composite score of weights that are all 0 is refused."""
    overrides = [f"analysis.composite.{name}=0" for name in ("completion", "partial", "speed", "reliability")]
    assert _problem(composing, *overrides).key == "analysis.composite"


def test_settings_are_frozen(composing: Compose) -> None:
    """Nothing behind the door can change a setting."""
    settings = composing().settings
    with pytest.raises(ValueError, match="frozen"):
        settings.runner.repeats = 5


def test_composing_leaves_the_choices_and_plain_values(composing: Compose) -> None:
    """A manifest gets the composed values as plain data, the overrides and the chosen options."""
    composed = composing("runner.repeats=3")
    assert composed.values["runner"]["repeats"] == 3
    assert "hydra" not in composed.values
    assert composed.overrides == ("skill_set=examples", "runner.repeats=3")
    assert composed.choices["scorer"] == "task"
    assert composed.choices["skill_set"] == "examples"
    assert not any(group.startswith("hydra") for group in composed.choices)
    assert composed.sweep is None


def test_a_folder_in_benchmarks_is_an_option_without_any_conf_file(project: Path, composing: Compose) -> None:
    """A benchmark of the project is chosen by its folder's name, and keeps the group's other values."""
    folder = project / "benchmarks" / "mine"
    folder.mkdir(parents=True)
    (folder / "benchmark.json").write_text("{}")
    benchmark = composing("benchmark=mine").settings.benchmark
    assert (benchmark.name, benchmark.tasks) == ("mine", None)
    assert benchmark.roots[0] == "benchmarks"


def test_a_benchmark_file_is_named_by_its_path(composing: Compose) -> None:
    """A path stands where an id may stand."""
    assert composing("benchmark.name=path/to.json").settings.benchmark.name == "path/to.json"


def test_a_users_conf_overrides_and_extends_the_shipped_one(project: Path, composing: Compose) -> None:
    """A file of the same name in the project's `conf/` wins; a new one is a new option."""
    for name, text in {
        "runner/default.yaml": (
            "repeats: 7\nconcurrency: 1\ntimeout_ms: 1\nretries: 0\nbackoff_base_s: 1\n"
            "backoff_factor: 1\nbackoff_max_s: 1\njitter: 0\nseed: 5\n"
        ),
        "scorer/strict.yaml": "# @package scorers.strict\nkind: exact\nstrip: false\n",
    }.items():
        path = project / "conf" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    settings = composing("scorer=[exact,strict]").settings
    assert settings.runner.repeats == 7
    assert settings.scorers["strict"].options == {"strip": False}
    assert settings.scorers["exact"].options["strip"] is True


def test_a_config_dir_comes_before_the_projects_conf(tmp_path: Path, project: Path, user_file: Path) -> None:
    """Of two files with one name, the one in the folder that was named wins."""
    for folder, level in ((project / "conf", "0.8"), (tmp_path / "extra", "0.6")):
        path = folder / "gate" / "default.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(f"min_completion: {level}\nexit_on_fail: false\nfail_on_error: false\n")
    overrides = ["skill_set=examples"]
    plain = compose_settings(overrides, project=project, user_file=user_file)
    extra = [tmp_path / "extra"]
    composed = compose_settings(overrides, project=project, user_file=user_file, config_dirs=extra)
    assert plain.settings.gate.min_completion == 0.8
    assert composed.settings.gate.min_completion == 0.6


def test_a_broken_group_file_is_said_with_its_line(project: Path, composing: Compose) -> None:
    """Bad YAML in a user's `conf/` names the file and the line."""
    path = project / "conf" / "gate" / "default.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("min_completion: 0.5\nexit_on_fail: [\n")
    problem = _problem(composing)
    assert problem.where.startswith(f"{path}:3:")


def test_composing_many_times_leaves_no_state(composing: Compose) -> None:
    """What one composition chose does not reach the next one."""
    assert list(composing("scorer=exact").settings.scorers) == ["exact"]
    assert list(composing().settings.scorers) == ["task"]
    with pytest.raises(ConfigError):
        composing("runner.nothing=1")
    assert list(composing().settings.scorers) == ["task"]
