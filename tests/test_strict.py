from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field

from skilleval.errors import ConfigError
from skilleval.strict import StrictModel, nearest


class Inner(StrictModel):
    """Options inside of options."""

    flag: bool


class Options(StrictModel):
    """Options of a part, with one key of each kind."""

    words: Annotated[tuple[str, ...], Field(strict=False)]
    number: Annotated[float, Field(gt=0)]
    whole: Annotated[int, Field(le=9)]
    text: Annotated[str, Field(min_length=1)]
    some: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    choice: Literal["a", "b"]
    inner: Inner


class Shares(StrictModel):
    """Options that are numbers with a limit."""

    share: Annotated[float, Field(ge=0, le=1)]
    level: Annotated[float, Field(gt=0, lt=1)]
    whole: Annotated[int, Field(le=9)]


def test_options_of_parts_are_refused_in_plain_words() -> None:
    """No word of the library that checks is left, and values look as they are written in a settings file."""
    values = {
        "words": 5,
        "number": -1,
        "whole": 1.5,
        "text": "",
        "some": [],
        "choice": None,
        "inner": {"flag": "é"},
    }
    with pytest.raises(ConfigError) as caught:
        Options.parse(values, where="config", prefix="part")
    assert {problem.key: (problem.expected, problem.found) for problem in caught.value.problems} == {
        "part.words": ("a list", "5"),
        "part.number": ("a number greater than 0", "-1"),
        "part.whole": ("a whole number", "1.5"),
        "part.text": ("a text that is not empty", '""'),
        "part.some": ("at least one entry", "[]"),
        "part.choice": ("a or b", "null"),
        "part.inner.flag": ("true or false", '"é"'),
    }


def test_a_class_of_ours_is_a_mapping_to_everybody_else() -> None:
    """Options that should have keys of their own are told so without a name of Python."""
    values = {"words": [], "number": 1.0, "whole": 1, "text": "x", "some": ["x"], "choice": "a", "inner": 3}
    with pytest.raises(ConfigError) as caught:
        Options.parse(values, where="config")
    (problem,) = caught.value.problems
    assert (problem.key, problem.expected, problem.found) == ("inner", "a mapping", "3")


def test_the_nearest_word_or_all_words_once() -> None:
    """A hint names what was probably meant, else everything there is."""
    assert nearest("repeets", ["repeats", "seed"]) == "did you mean repeats?"
    assert nearest("xyz", ["seed", "repeats", "seed"]) == "known: repeats, seed"


class Many(StrictModel):
    """Options that hold a list of options."""

    inners: Annotated[tuple[Inner, ...], Field(strict=False)]


def test_a_key_inside_a_list_is_told_with_the_keys_of_its_entry() -> None:
    """The hint names keys that would be right there, not those of the outermost mapping."""
    with pytest.raises(ConfigError) as caught:
        Many.parse({"inners": [{"flag": True}, {"flag": True, "flags": 1}]}, where="x.yaml")
    (problem,) = caught.value.problems
    assert (problem.key, problem.hint) == ("inners.1.flags", "did you mean flag?")


@pytest.mark.parametrize(
    ("key", "found", "hint"),
    [
        ("share", 90, "90 % is 0.9"),
        ("level", 99.5, "99.5 % is 0.995"),
        ("share", 250, ""),
        ("share", -3, ""),
        ("whole", 10, ""),
    ],
)
def test_who_writes_a_percentage_is_told_the_share(key: str, found: float, hint: str) -> None:
    """Where a number may be 1 at most, what was meant by one up to 100 is said; elsewhere nothing is guessed."""
    with pytest.raises(ConfigError) as caught:
        Shares.parse({"share": 0.5, "level": 0.5, "whole": 1, key: found}, where="config")
    assert [(problem.key, problem.hint) for problem in caught.value.problems] == [(key, hint)]
