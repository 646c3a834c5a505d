"""A text reads in several ways, and each place of a reading is known in the text."""

from __future__ import annotations

import json

import pytest

from skilleval.results.readings import readings

SAID = 'k"ey"\\7\n€😀'


@pytest.mark.parametrize(
    "spelled",
    [
        json.dumps(SAID),
        json.dumps(SAID, ensure_ascii=False),
        json.dumps(json.dumps(SAID)),
        json.dumps(json.dumps({"a": json.dumps(SAID)})),
        json.dumps(SAID).replace("u20ac", "u20AC"),
        repr(SAID),
        SAID.replace("\\", "\\\\").replace("\n", "\\x0a").replace("😀", "\\U0001F600"),
    ],
)
def test_escapes_of_json_and_python_are_undone(spelled: str) -> None:
    """One of the readings says what was meant, and what stands in its place is all that spells it."""
    text = f"found {spelled}, not \\\\ this"
    (start, end) = next(
        (reading.origin(place), reading.origin(place + len(SAID)))
        for reading in readings(text)
        if (place := reading.text.find(SAID)) >= 0
    )
    assert (
        text[:start].rstrip('"\\') in {"found ", "found '", 'found "\\"{\\"a\\": ', "found {a: "} or start > 0
    )
    assert text[start] == "k"
    assert text[end:].lstrip("\"'\\}").startswith(", not ")


def test_a_text_without_escapes_reads_one_way() -> None:
    """Nothing is undone where nothing is escaped, and never more than three times."""
    assert [reading.text for reading in readings("a/b 'c'")] == ["a/b 'c'"]
    assert [reading.text for reading in readings("\\" * 16 + "n")] == [
        "\\" * 16 + "n",
        "\\" * 8 + "n",
        "\\" * 4 + "n",
        "\\" * 2 + "n",
    ]


@pytest.mark.parametrize(("text", "meant"), [("roy\\u00… (9)", "roy… (9)"), ("roy\\", "roy"), ("a\\x", "a")])
def test_what_a_cut_left_of_an_escape_stands_for_nothing(text: str, meant: str) -> None:
    """So the text before it ends where the cut was."""
    assert [reading.text for reading in readings(text)][1] == meant
