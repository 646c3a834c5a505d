from __future__ import annotations

from pathlib import Path

import pytest

from skilleval.config.compose.layer_files import parse_mapping, read_mapping
from skilleval.config.compose.phrases import hydra_phrase, yaml_phrase
from skilleval.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("runner: [\n", "2:1", "the end of the file, where a value should stand"),
        ("runner:\n\trepeats: 3\n", "2:1", "a tab; lines are indented with blanks"),
        ("runner:\n  repeats: 3\n retries: 2\n", "3:2", "an indentation that fits no line above"),
        ("a: b: c\n", "1:5", "a colon where no key can stand; texts with a colon need quotes"),
        ("a: [1\nb: 2\n", "2:2", "a list that is not closed with ]"),
        ("a: {b: 3\n", "2:1", "a mapping that is not closed with }"),
        ("'abc\n", "2:1", "a quote that is not closed"),
        ("a: 1\na: 2\n", "2:1", "the key a twice"),
        ("a: *b\n", "1:4", "the alias *b without its anchor &b; a text that begins with * needs quotes"),
        ("a: *.md\n", "1:5", "a text that begins with *; it needs quotes"),
        ("a: @b\n", "1:4", "the character @ at the start of a value; it needs quotes"),
        ("a: 1\n---\nb: 2\n", "2:1", "a second document behind ---"),
        ("? [a]\n: 3\n", "1:3", "a list or mapping as a key"),
        ("a: !!python/object:x 3\n", "1:4", "a tag: values are plain"),
        ('a: "\\d"\n', "1:6", "the escape \\d in a text with double quotes; use single quotes"),
        ("a\nb\nc: 1\n", "3:2", "a colon where no key can stand; texts with a colon need quotes"),
        ("%YAML 3\n", "1:8", "something that is not YAML"),
    ],
)
def test_broken_yaml_is_said_with_its_place_in_plain_words(text: str, place: str, found: str) -> None:
    """File, line and column, and what is wrong there as one would say it."""
    with pytest.raises(ConfigError) as caught:
        parse_mapping(text, Path("a.yaml"))
    (problem,) = caught.value.problems
    assert (problem.where, problem.expected, problem.found) == (f"a.yaml:{place}", "YAML", found)


def test_unknown_words_are_not_passed_off_as_ours() -> None:
    """What nobody has words for gives none."""
    assert hydra_phrase("the moon is full") is None
    assert yaml_phrase("the moon is full") == "something that is not YAML"


def test_a_long_value_is_cut() -> None:
    """A value that was found is shown, not printed in full."""
    phrase = hydra_phrase(f"hydra.searchpath must be a list of strings. Got: {'x' * 1000}")
    assert phrase is not None
    assert len(phrase.found) == 120


@pytest.mark.parametrize(
    ("content", "found"),
    [(b"a: \xff\n", "bytes that are no UTF-8 at byte 3"), (None, "no such file or directory")],
)
def test_a_file_that_cannot_be_read_is_said_without_numbers(
    tmp_path: Path, content: bytes | None, found: str
) -> None:
    """Neither error numbers nor names of codecs are what a reader needs."""
    path = tmp_path / "a.yaml"
    if content:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_mapping(path)
    (problem,) = caught.value.problems
    assert (problem.where, problem.found) == (str(path), found)
