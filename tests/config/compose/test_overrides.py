from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from skilleval.config.compose import Composed, quote
from skilleval.config.compose.overrides import chosen_groups, group_choices, parse_overrides
from skilleval.config.request import Request
from skilleval.errors import ConfigError, UsageError

Compose = Callable[..., Composed]

_WORDS = {"null", "true", "false", "nan", "inf"}
_KEYS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]*", fullmatch=True).filter(
    lambda key: key.lower() not in _WORDS
)
_TEXTS = st.one_of(
    st.text(),
    st.text(alphabet="$\\{}'\",=[]: \n\tab()?#~é"),
    st.sampled_from(
        ["null", "1", "1.0", "true", "", "a,b", "${x}", "\\${x}", "it's", "inf", "[a]", "{a: 1}"]
    ),
).filter(lambda text: text != "???")
_LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), _TEXTS)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=6,
)
_PARSER = OverridesParser.create()


def _read(text: str) -> Any:
    """Read a value as Hydra does, once as given and once as a sweeper writes it anew."""
    override = _PARSER.parse_override(f"+key={text}")
    assert not override.is_sweep_override()
    again = _PARSER.parse_override(f"+key={override.get_value_element_as_str()}")
    values = []
    for one in (override, again):
        config = OmegaConf.create({})
        OmegaConf.update(config, "key", one.value(), force_add=True)
        plain = OmegaConf.to_container(config, resolve=True)
        assert isinstance(plain, dict)
        values.append(plain["key"])
    assert values[0] == values[1]
    return values[0]


def _typed(value: Any) -> Any:
    """Make values of different types differ: 1, 1.0 and True are equal in Python."""
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return type(value), value


@settings(max_examples=100, deadline=None)
@given(_VALUES)
def test_a_quoted_value_comes_back_exactly(value: Any) -> None:
    """Whatever a value is, Hydra reads back that value and its type: no sweep, no cast, no interpolation."""
    assert _typed(_read(quote(value))) == _typed(value)


@pytest.mark.parametrize(
    "title", ["a,b", "null", "1", "${paths.store}", 'it\'s "x" = [1]', "zwei\nZeilen é", ""]
)
def test_a_quoted_title_arrives(composing: Compose, title: str) -> None:
    """A text that means something to Hydra or YAML arrives in the settings as it was."""
    assert composing(f"report.title={quote(title)}").settings.report.title == title


def test_a_quoted_list_arrives(composing: Compose) -> None:
    """Paths with commas, blanks and equals signs stay single paths."""
    paths = ["a, b/skill.json", "c=d", "e f"]
    assert composing(f"skill_set.paths={quote(paths)}").settings.skill_set.paths == tuple(paths)


@pytest.mark.parametrize("value", ["???", {"a b": 1}, {"null": 1}, {1: 1}, object(), ["???"]])
def test_what_cannot_be_said_is_refused(value: Any) -> None:
    """A value without a form in the grammar is refused instead of being bent."""
    with pytest.raises(UsageError):
        quote(value)


def test_an_unreadable_override_is_named() -> None:
    """A broken override is shown, with a way to mend it."""
    with pytest.raises(ConfigError, match="quote special characters") as caught:
        parse_overrides(["runner.repeats=1", "report.title=it's"])
    assert caught.value.problems[0].key == "report.title=it's"


def test_choices_of_the_command_line_are_seen(project: Path) -> None:
    """A group counts as chosen by one option, a list, a sweep, a deletion, or through an experiment."""
    overrides = (
        "scorer=[exact,contains]",
        "sandbox=none,other",
        "~adapter",
        "+experiment=demo",
        "runner.repeats=1",
        "gate={min_completion: 1}",
    )
    request = Request(project=project, overrides=overrides)
    assert chosen_groups(request, parse_overrides(overrides)) == {
        "scorer",
        "sandbox",
        "adapter",
        "experiment",
        "skill_set",
        "benchmark",
    }
    assert group_choices(overrides) == ["scorer=[exact,contains]", "~adapter", "+experiment=demo"]
