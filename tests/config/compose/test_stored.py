"""The settings of a stored run are those it was made with; only overrides change them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skilleval.config.compose import StoredConfig, compose_settings, compose_stored, quote
from skilleval.config.trees import without
from skilleval.errors import ConfigError

_TITLE = "cost ${x} \\${y}"
_MADE = (
    "skill_set.paths=[a]",
    "adapter=replay",
    "adapter.path=r.jsonl",
    f"report.title={quote(_TITLE)}",
)


@pytest.fixture
def made(tmp_path: Path) -> StoredConfig:
    """Give the config of a run as its manifest holds it."""
    composed = compose_settings(_MADE, project=tmp_path, user_file=tmp_path / "none.yaml")
    return StoredConfig(
        where=tmp_path / "run" / "manifest.json",
        values=composed.values,
        overrides=composed.overrides,
        choices=composed.choices,
    )


def values(stored: StoredConfig, *overrides: str) -> Mapping[str, Any]:
    """Compose it again."""
    return compose_stored(stored, overrides, project=stored.where.parent.parent).values


def test_without_overrides_nothing_changes(made: StoredConfig) -> None:
    """Values, and texts that look like references, are what they were; today's files say nothing."""
    (made.where.parent.parent / "skilleval.yaml").write_text("runner: {repeats: 9}\n")
    again = compose_stored(made, (), project=made.where.parent.parent)
    assert again.values == made.values
    assert (again.overrides, again.choices) == (_MADE, made.choices)
    assert again.settings.report.title == _TITLE
    assert again.settings.runner.repeats == 1


def test_overrides_are_those_of_hydra(made: StoredConfig) -> None:
    """Values, lists, mappings, additions, removals and references to other settings."""
    changed = values(
        made,
        "runner.retries=2",
        "runner={concurrency: 8, jitter: 0.25}",
        "report.formats=[html]",
        "benchmark.roots=[mine,${paths.output_dir}]",
        "+adapter.more=1",
        "~adapter.path",
    )
    runner = changed["runner"]
    assert (runner["retries"], runner["concurrency"], runner["jitter"]) == (2, 8, 0.25)
    assert changed["report"]["formats"] == ["html"]
    assert changed["benchmark"]["roots"] == ["mine", "outputs/default"]
    assert changed["adapter"] == {"kind": "replay", "more": 1}


def test_a_group_that_is_chosen_anew_replaces_the_stored_one(made: StoredConfig) -> None:
    """Its values come from `conf/`, and nothing of the former choice stays; an override of it comes on top."""
    again = compose_stored(
        made, ["scorer=[exact,contains]", "scorers.exact.tolerance=0.5"], project=made.where.parent.parent
    )
    assert sorted(again.values["scorers"]) == ["contains", "exact"]
    assert again.values["scorers"]["exact"]["tolerance"] == 0.5
    assert again.values["adapter"] == made.values["adapter"]
    assert "scorer" not in again.choices
    assert compose_stored(made, ["adapter=python"], project=made.where.parent).choices["adapter"] == "python"


def test_settings_that_came_later_have_their_shipped_value(made: StoredConfig) -> None:
    """A run of an older skilleval can still be read; its parts keep to what it says."""
    older = StoredConfig(
        where=made.where, values=without(without(made.values, "runner.latency"), "paths.cache"), choices={}
    )
    assert values(older) == made.values


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("runner.retrys=1", "runner.retrys: expected a known key, found retrys (did you mean retries?)"),
        ("runner.retries=x", "command line: runner.retries=x: runner.retries: "),
        ("runner.retries=1,2", "expected one value, found several"),
        ("scorer=nonsense", "expected an option of the group scorer, found nonsense"),
        ("+experiment=demo", "expected a setting, found an experiment"),
        ("~gate", "command line: ~gate: gate: expected a mapping"),
        ("runner.retries", "expected key=value"),
    ],
)
def test_a_wrong_override_is_told(made: StoredConfig, override: str, told: str) -> None:
    """Unknown keys, wrong values, sweeps and unknown options are errors with their place."""
    with pytest.raises(ConfigError) as caught:
        values(made, override)
    assert told in str(caught.value)


def test_a_wrong_stored_value_is_told_with_the_manifest(made: StoredConfig) -> None:
    """What the run itself says wrongly is blamed on its manifest."""
    broken = {**made.values, "gate": {**made.values["gate"], "min_completion": 7}}
    with pytest.raises(ConfigError, match=r"manifest\.json: gate\.min_completion"):
        values(StoredConfig(where=made.where, values=broken, choices={}))
