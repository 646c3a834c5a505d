from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from skilleval.config.compose.layer_files import parse_mapping
from skilleval.config.settings_text import with_choice, with_value, without_choice, without_key
from skilleval.config.trees import at, merged, placed, without

_TEXT = """\
# ours

# how long
runner:
  # times
  repeats: 2   # twice
  retries: 3

# what is written
report:
  formats:  # which
    - json  # for machines
    - html
  title: |
    a
    # b

gate: {min_completion: 0.5, exit_on_fail: true}
scorers:
"""


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("runner.repeats", 5, "repeats: 2   # twice", "repeats: 5   # twice"),
        ("runner.seed", 1, "  retries: 3\n", "  retries: 3\n  seed: 1\n"),
        (
            "report.formats",
            ["json"],
            "  # which\n    - json  # for machines\n    - html",
            ' ["json"]  # which',
        ),
        ("report.title", None, "|\n    a\n    # b", "null"),
        ("gate.min_completion", 1, "min_completion: 0.5", "min_completion: 1"),
        ("gate.fail_on_error", True, "exit_on_fail: true", "exit_on_fail: true, fail_on_error: true"),
        ("scorers.exact.strip", False, "scorers:", "scorers: {exact: {strip: false}}"),
        (
            "analysis.composite.speed",
            0.5,
            "scorers:\n",
            "scorers:\nanalysis:\n  composite:\n    speed: 0.5\n",
        ),
    ],
)
def test_only_the_value_changes(key: str, value: Any, old: str, new: str) -> None:
    """A value is exchanged or put behind its neighbours; every other character stays."""
    assert with_value(_TEXT, key, value) == _TEXT.replace(old, new)


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        ("runner.repeats", "  repeats: 2   # twice\n"),
        ("report.title", "  title: |\n    a\n    # b\n"),
        ("gate.exit_on_fail", ", exit_on_fail: true"),
        ("gate.min_completion", "min_completion: 0.5, "),
        ("scorers", "scorers:\n"),
    ],
)
def test_only_the_key_goes(key: str, gone: str) -> None:
    """A key goes with its value and the comment on its line; every other character stays."""
    assert without_key(_TEXT, key) == _TEXT.replace(gone, "")


def test_what_is_empty_goes_with_its_last_key() -> None:
    """No empty mapping is left; comments on lines of their own are."""
    text = "# all\nreport:\n  # one\n  title: x  # t\nrunner: {repeats: 3}\n"
    assert without_key(text, "report.title") == "# all\n  # one\nrunner: {repeats: 3}\n"
    assert without_key(text, "runner.repeats") == "# all\nreport:\n  # one\n  title: x  # t\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "defaults:\n  - override /scorer: exact\n"),
        ("# ours", "# ours\ndefaults:\n  - override /scorer: exact\n"),
        ("# ours\na: 1\n", "# ours\ndefaults:\n  - override /scorer: exact\na: 1\n"),
        ("# ours\n\n# of a\na: 1\n", "# ours\n\ndefaults:\n  - override /scorer: exact\n# of a\na: 1\n"),
        ("{a: 1}\n", "{defaults: [{override /scorer: exact}], a: 1}\n"),
        ("{}\n", "{defaults: [{override /scorer: exact}]}\n"),
        ("defaults: []\na: 1\n", "defaults: [{override /scorer: exact}]\na: 1\n"),
        ("defaults:  # none\n", "defaults: [{override /scorer: exact}]  # none\n"),
        (
            "defaults:\n- override /runner: long # l\n# of a\na: 1\n",
            "defaults:\n- override /runner: long # l\n- override /scorer: exact\n# of a\na: 1\n",
        ),
        (
            "defaults: [{override /runner: long}]\n",
            "defaults: [{override /runner: long}, {override /scorer: exact}]\n",
        ),
    ],
)
def test_a_choice_is_put_at_the_end_of_the_defaults_list(before: str, after: str) -> None:
    """Hydra wants overrides last; a list that is not there is made above the first key."""
    assert with_choice(before, "scorer", "exact") == after


@pytest.mark.parametrize(
    "before",
    [
        "defaults:\n  - override /scorer: [contains]  # c\n",
        "defaults:\n  - override scorer: contains  # c\n  - override /scorer: task\n",
    ],
)
def test_a_choice_replaces_all_earlier_ones_of_its_group(before: str) -> None:
    """One group has one choice; the comment beside the first one stays."""
    after = with_choice(before, "scorer", "exact")
    assert yaml.safe_load(after)["defaults"] == [{next(iter(yaml.safe_load(after)["defaults"][0])): "exact"}]
    assert after.endswith("exact  # c\n")
    assert without_choice(after, "scorer") == ""


@pytest.mark.parametrize("option", ["2024", "yes", "null", "a: b", "1e3"])
def test_an_option_is_always_a_text(option: str) -> None:
    """A folder may be called like a number or a truth value."""
    assert yaml.safe_load(with_choice("", "benchmark", option)) == {
        "defaults": [{"override /benchmark": option}]
    }


@pytest.mark.parametrize(
    "value", [float("inf"), float("-inf"), "\x85 \u2028 \uffff", "é \n '\"", "- a", {"a-b": [None]}]
)
def test_every_value_is_read_back(value: Any) -> None:
    """Numbers without end, odd line breaks and quotes come back as they were."""
    assert parse_mapping(with_value("", "key", value), Path("x")) == {"key": value}


_WORDS = st.sampled_from(["a", "b", "runner", "x-y", "z_1"])
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=6),
    st.sampled_from(["#x", "a: b", "yes", "a\nb", "# c\n#d\n", "[x"]),
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(_WORDS, _VALUES, max_size=4),
    st.sampled_from([None, False, True]),
    st.lists(_WORDS, min_size=1, max_size=3).map(".".join),
    _LEAVES,
)
def test_a_change_does_what_it_says_and_no_more(
    tree: dict[str, Any], flow: bool | None, key: str, value: Any
) -> None:
    """Whatever a file says and however it is written, one change alters one thing."""
    text = yaml.safe_dump(tree, default_flow_style=flow, sort_keys=False) if tree else ""
    assert _read(text) == tree
    assert _read(with_value(text, key, value)) == merged(without(tree, key), placed(key, value))
    if at(tree, key, "absent") != "absent":
        assert at(_read(without_key(text, key)), key, "absent") == "absent"
    chosen = with_choice(text, "scorer", "exact")
    assert _read(chosen) == {"defaults": [{"override /scorer": "exact"}], **tree}
    assert _read(without_choice(chosen, "scorer")) == tree


def _read(text: str) -> dict[str, Any]:
    return parse_mapping(text, Path("x"))
