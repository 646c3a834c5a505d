from __future__ import annotations

from typing import Any

import pytest

from skilleval.config.settings import CompositeWeights, Settings
from skilleval.errors import ConfigError


def _values(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "experiment_name": "x",
        "skill_set": {
            "name": "s",
            "paths": ["a"],
            "skip_invalid": False,
            "only_runnable": False,
            "modes": ["with_skill"],
            "old": None,
            "include": [],
            "exclude": [],
            "strict": False,
        },
        "benchmark": {"name": "b", "tasks": None, "data": None, "roots": []},
        "adapter": {"kind": "auto"},
        "model": {"kind": "none"},
        "judge": {"kind": "same", "name": "", "params": {}},
        "second_judge": {"kind": "none"},
        "pricing": {"table": "none", "overrides": {"m": {"input": 1, "output": 2}}},
        "budget": {"usd": 1, "tokens": None},
        "scorers": {"exact": {"kind": "exact", "strip": True}},
        "sandbox": {"kind": "none"},
        "runner": {
            "repeats": 1,
            "concurrency": 1,
            "timeout_ms": 1,
            "retries": 0,
            "backoff_base_s": 0,
            "backoff_factor": 1,
            "backoff_max_s": 0,
            "jitter": 0,
            "seed": -1,
            "isolation": "trial",
            "worker_trials": 1,
            "latency": "concurrent",
            "cache": "auto",
            "resume": False,
        },
        "plan": {"shards": 1, "shard": 0, "durations": None},
        "analysis": {
            "preset": "default",
            "level": 0.9,
            "k": 1,
            "reused_latency": False,
            "interval": "agresti_coull_t",
            "family": None,
            "resamples": 1000,
            "composite": {"completion": 1, "partial": 0, "speed": 0, "reliability": 0},
        },
        "gate": {"min_completion": 0, "exit_on_fail": True, "fail_on_error": True},
        "report": {
            "formats": [],
            "title": None,
            "max_trials": 10000,
            "execute": False,
            "template": None,
            "templates": [],
        },
        "privacy": {"redact": []},
        "paths": {
            "output_dir": "o",
            "store": None,
            "cache": "c",
            "shipped_examples": "e",
            "shipped_benchmarks": "b",
        },
    }
    return {**values, **changes}


def test_a_part_is_its_kind_and_the_rest() -> None:
    """Options stand beside the kind in YAML, and under `options` in the settings."""
    settings = Settings.parse(_values(), where="test")
    assert settings.scorers["exact"].kind == "exact"
    assert settings.scorers["exact"].options == {"strip": True}


def test_a_nested_block_loses_its_own_kind() -> None:
    """A block pulled from another part's file holds options alone."""
    part = {"kind": "auto", "http": {"kind": "http", "url": "u"}, "plain": {"a": 1}}
    settings = Settings.parse(_values(adapter=part), where="test")
    assert settings.adapter.options == {"http": {"url": "u"}, "plain": {"a": 1}}


@pytest.mark.parametrize(
    ("part", "key"),
    [
        ({"kind": "auto", "http": {"kind": "mcp"}}, "adapter"),
        ({"strip": True}, "adapter"),
        ("auto", "adapter"),
        (None, "adapter"),
        ({"kind": ""}, "adapter.kind"),
        ({"kind": 3}, "adapter.kind"),
    ],
)
def test_a_part_needs_its_kind(part: Any, key: str) -> None:
    """What has no kind, or a block of another kind than its name, is refused."""
    with pytest.raises(ConfigError) as caught:
        Settings.parse(_values(adapter=part), where="test")
    assert [problem.key for problem in caught.value.problems] == [key]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("runner.repeats", 0),
        ("runner.repeats", 1.5),
        ("runner.repeats", True),
        ("runner.concurrency", 0),
        ("runner.timeout_ms", 0),
        ("runner.timeout_ms", float("inf")),
        ("runner.retries", -1),
        ("runner.backoff_base_s", -1),
        ("runner.backoff_factor", 0.9),
        ("runner.backoff_max_s", float("nan")),
        ("runner.jitter", 1.1),
        ("runner.jitter", float("nan")),
        ("gate.min_completion", float("nan")),
        ("gate.min_completion", 1.1),
        ("gate.min_completion", "0.7"),
        ("gate.exit_on_fail", "yes"),
        ("gate.fail_on_error", 1),
        ("analysis.k", 0),
        ("analysis.level", 1),
        ("analysis.level", 0),
        ("analysis.preset", "other"),
        ("report.formats", "json"),
        ("report.formats", [1]),
        ("report.title", 7),
        ("report.max_trials", -1),
        ("skill_set.paths", []),
        ("skill_set.skip_invalid", None),
        ("benchmark.name", ""),
        ("paths.output_dir", ""),
    ],
)
def test_a_value_out_of_its_range_is_refused(key: str, value: Any) -> None:
    """Wrong types, wrong ranges and numbers that are none never reach a run."""
    group, name = key.split(".")
    values = _values()
    with pytest.raises(ConfigError) as caught:
        Settings.parse({**values, group: {**values[group], name: value}}, where="test")
    assert all(problem.key.startswith(key) for problem in caught.value.problems)


def test_a_run_needs_a_scorer() -> None:
    """An empty panel is refused: nothing would ever be graded."""
    with pytest.raises(ConfigError, match="scorers"):
        Settings.parse(_values(scorers={}), where="test")


@pytest.mark.parametrize("name", ["..", "a/b", "", ".hidden", "-x", "a b", "a\\b"])
def test_an_experiment_is_one_folder_name(name: str) -> None:
    """The name of an experiment cannot lead out of the output folder."""
    with pytest.raises(ConfigError, match="experiment_name"):
        Settings.parse(_values(experiment_name=name), where="test")


@pytest.mark.parametrize("name", ["a", "a.b-c_1", "größe", "0"])
def test_an_experiment_may_be_named_freely(name: str) -> None:
    """Letters of any language, digits, dots, dashes and underscores make a name."""
    assert Settings.parse(_values(experiment_name=name), where="test").experiment_name == name


def test_weights_are_finite_and_not_all_zero() -> None:
    """Weights that sum to nothing, or to no number, cannot weigh."""
    good = {"completion": 1, "partial": 0, "speed": 0, "reliability": 0}
    assert CompositeWeights.parse(good, where="test").completion == 1
    for bad in (0, float("nan"), float("inf"), -1, "1", True):
        with pytest.raises(ConfigError):
            CompositeWeights.parse({**good, "completion": bad}, where="test")


def test_weights_that_only_overflow_together_are_refused() -> None:
    """Each weight is a number, but their sum is not: every composite would come out as 0."""
    weights = {"completion": 1e308, "partial": 1e308, "speed": 0, "reliability": 0}
    with pytest.raises(ConfigError, match="weights whose sum is a finite number"):
        CompositeWeights.parse(weights, where="test")
    assert CompositeWeights.parse(weights | {"partial": 0}, where="test").completion == 1e308
