from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from skilleval.config.settings import GateSettings, RunnerSettings, Settings
from skilleval.config.wording import completing, in_plain_words
from skilleval.errors import ConfigError, Problem

_GROUPS = {"runner", "scorer", "experiment"}


def _said(values: Mapping[str, Any], key: str) -> Problem:
    """Give what is said about one key of wrong settings."""
    with pytest.raises(ConfigError) as caught:
        Settings.parse(values, where="config")
    problem = next(one for one in caught.value.problems if one.key == key)
    return in_plain_words(problem, Settings, values, _GROUPS)


@pytest.mark.parametrize("value", [5, None, ["long", 1]])
def test_a_mapping_is_told_by_its_keys(value: Any) -> None:
    """Where settings of a group are due, their keys are named instead of a class."""
    problem = _said({"runner": value}, "runner")
    assert problem.expected == f"a mapping with the keys {', '.join(RunnerSettings.model_fields)}"
    assert problem.hint == ""


def test_a_missing_group_is_told_by_its_keys() -> None:
    """What is absent is said to be absent, not null."""
    problem = _said({}, "gate")
    assert problem.expected == f"a mapping with the keys {', '.join(GateSettings.model_fields)}"
    assert problem.found == "nothing"


@pytest.mark.parametrize(
    ("value", "expected", "found"),
    [
        (1.5, "a whole number", "1.5"),
        ("", "a whole number", '""'),
        (True, "a whole number", "true"),
        (0, "a number greater than or equal to 1", "0"),
        ({"é": None}, "a whole number", '{"é": null}'),
    ],
)
def test_values_are_shown_as_they_are_written(value: Any, expected: str, found: str) -> None:
    """What was found looks like YAML, not like Python."""
    problem = _said({"runner": {"repeats": value}}, "runner.repeats")
    assert (problem.expected, problem.found) == (expected, found)


@pytest.mark.parametrize(
    "key", ["experiment_name", "paths.output_dir", "gate.exit_on_fail", "report.formats"]
)
@pytest.mark.parametrize("value", [7, "", [], {}, None])
def test_no_words_of_the_library_are_left(key: str, value: Any) -> None:
    """Whatever the value, nothing is `valid`, nobody has an `Input`, and no class is named."""
    group, _, name = key.partition(".")
    values = {group: {name: value}} if name else {group: value}
    with pytest.raises(ConfigError) as caught:
        Settings.parse(values, where="config")
    said = " ".join(str(in_plain_words(one, Settings, values, _GROUPS)) for one in caught.value.problems)
    for word in ("a valid", "Input", "Settings", "String", "Tuple", "tuple", "ictionary", "None"):
        assert word not in said


def test_an_unknown_key_keeps_its_hint() -> None:
    """The nearest right name is not lost."""
    problem = _said({"runner": {"repeets": 3}}, "runner.repeets")
    assert (problem.expected, problem.found, problem.hint) == (
        "a known key",
        "repeets",
        "did you mean repeats?",
    )


@pytest.mark.parametrize(
    ("values", "key", "hint"),
    [
        ({"repeats": 2}, "repeats", "did you mean runner.repeats?"),
        ({"runner": {"min_completion": 0.9}}, "runner.min_completion", "did you mean gate.min_completion?"),
        ({"speed": 1.0}, "speed", "did you mean analysis.composite.speed?"),
        ({"title": "x"}, "title", "did you mean report.title?"),
        ({"name": "x"}, "name", "did you mean skill_set.name or benchmark.name?"),
    ],
)
def test_a_key_in_the_wrong_place_is_told_where_it_belongs(
    values: Mapping[str, Any], key: str, hint: str
) -> None:
    """Its own name in another place means more than a name that looks alike."""
    assert _said(values, key).hint == hint


def test_an_option_that_leaves_settings_out_is_told_how_to_take_them_over() -> None:
    """Who writes an option of a group with half of its keys reads once where the other half comes from."""
    with pytest.raises(ConfigError) as caught:
        Settings.parse({"runner": {"repeats": 3}}, where="config")
    hint = completing(caught.value.problems, _GROUPS)
    assert hint.startswith("a file of your own in conf/runner/")
    assert "defaults: [OPTION]" in hint
    assert completing(caught.value.problems, set()) == ""
