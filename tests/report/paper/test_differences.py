from __future__ import annotations

import json

import pytest

from skilleval.report.paper.differences import (
    Kind,
    number_differences,
    same_values,
    spec_differences,
    text_differences,
)


@pytest.mark.parametrize(
    ("found", "expected", "kind"),
    [
        ("rate 0.93", "rate 0.95", Kind.NUMBER),
        ("rate 0.93", "the rate 0.93", Kind.WORDING),
        (r"x \ensuremath{-}0.3", "x 0.3", Kind.NUMBER),
        ("x −0.3", r"x \ensuremath{-}0.3", Kind.WORDING),
        ("0.5 of 3", "3 of 0.5", Kind.NUMBER),
        (r"adder & 0.5 \\", r"guesser & 0.5 \\", Kind.NUMBER),
        (r"\newcommand{\evalAdder}{0.5}", r"\newcommand{\evalGuesser}{0.5}", Kind.NUMBER),
        (r"adder & 0.5 \textdagger{} \\", r"adder & 0.5 \\", Kind.NUMBER),
        (r"skill & rate \\", r"who & rate \\", Kind.WORDING),
    ],
)
def test_numbers_are_told_apart_from_words(found: str, expected: str, kind: Kind) -> None:
    """A line whose numbers, signs, order, marks and owner are the same differs in its wording only."""
    (one,) = text_differences("a.tex", f"first\n{found}\n", f"first\n{expected}\n")
    assert (one.kind, one.line, one.found, one.expected) == (kind, 2, found, expected)


def test_a_line_that_is_missing_is_named() -> None:
    """A line that only the rows give stands with nothing beside it."""
    (one,) = text_differences("a.tex", "a\nc\n", "a\nb 1\nc\n")
    assert (one.kind, one.found, one.expected) == (Kind.NUMBER, "", "b 1")


def test_equal_texts_have_no_difference() -> None:
    """Nothing is said of what is the same; line ends alone are told."""
    assert list(text_differences("a", "x\n", "x\n")) == []
    assert [one.kind for one in text_differences("a", "x", "x\n")] == [Kind.WORDING]


def test_a_figure_may_be_drawn_in_another_way() -> None:
    """Other colours over the same rows are no other numbers; another row is."""
    spec = {"datasets": {"d": [{"x": 0.5}]}, "mark": {"size": 3}}
    text = json.dumps(spec)
    other = json.dumps({**spec, "mark": {"size": 4}})
    wrong = json.dumps({**spec, "datasets": {"d": [{"x": 0.6}]}})
    assert [one.kind for one in spec_differences("f", text, other)] == [Kind.DRAWING]
    assert [one.kind for one in spec_differences("f", text, wrong)] == [Kind.NUMBER]
    assert list(spec_differences("f", text, text)) == []


@pytest.mark.parametrize(
    ("found", "expected"),
    [("guesser", "adder"), ("passed", "failed"), (True, False), (None, 0.5)],
)
def test_names_and_outcomes_are_data_of_a_figure(found: object, expected: object) -> None:
    """A figure that shows a row under another name, or as another outcome, does not show the same numbers."""
    texts = [json.dumps({"datasets": {"d": [{"is": value, "x": 1}]}}) for value in (found, expected)]
    assert {one.kind for one in spec_differences("f", *texts)} == {Kind.NUMBER}


def test_where_a_name_stands_is_no_number() -> None:
    """Labels that moved, in sets of rows that are therefore called otherwise, are the same numbers drawn otherwise."""
    front = [{"x": 2, "place": "above"}]
    found = json.dumps({"datasets": {"a1": [{"x": 1, "place": "left", "colour": "#000"}], "b": front}})
    expected = json.dumps({"datasets": {"b": front, "c9": [{"x": 1, "place": "right", "colour": "#fff"}]}})
    assert [one.kind for one in spec_differences("f", found, expected)] == [Kind.DRAWING]


def test_a_figure_is_one_difference() -> None:
    """However many rows of a figure differ, it is named once."""
    texts = [json.dumps({"values": [{"x": x + add} for x in range(9)]}, indent=1) for add in (0, 1)]
    assert [one.kind for one in spec_differences("f", *texts)] == [Kind.NUMBER]


def test_numbers_are_held_against_each_other_by_macro() -> None:
    """A value that differs is named with both values, a macro that one side lacks too; another space is wording."""
    one = {"macro": "evalA", "text": "0.5", "value": 0.5, "unit": "share"}
    (found,) = number_differences("p", [one], [{**one, "value": 0.6, "text": "0.6"}])
    assert (found.kind, found.what, found.found, found.expected) == (Kind.NUMBER, "\\evalA", "0.5", "0.6")
    (lost,) = number_differences("p", [one], [])
    assert (lost.kind, lost.found, lost.expected) == (Kind.NUMBER, "0.5", "")
    (unit,) = number_differences("p", [one], [{**one, "unit": "ms"}])
    assert unit.kind is Kind.WORDING
    (text,) = number_differences("p", [one | {"text": "5\u2009ms"}], [one | {"text": "5\u202fms"}])
    assert text.kind is Kind.WORDING
    (text,) = number_differences("p", [one | {"text": "5 s"}], [one | {"text": "5 ms"}])
    assert text.kind is Kind.NUMBER


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (0.1 + 0.2, 0.3, True),
        (0.3, 0.3000001, False),
        (1, 1.0, True),
        (None, 0, False),
        (True, 1, False),
        ({"a": [1]}, {"a": [1]}, True),
        ({"a": 1}, {"b": 1}, False),
    ],
)
def test_values_are_equal_up_to_the_order_of_a_sum(one: object, other: object, is_same: bool) -> None:
    """The last bits of a float may depend on the processor; nothing else may differ."""
    assert same_values(one, other) is is_same
