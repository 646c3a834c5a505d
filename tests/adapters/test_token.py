from __future__ import annotations

import html
import json
from urllib.parse import quote, quote_plus

import pytest

from skilleval.adapters.token import Token

ODD = "a/b\"c\\d-e'f&g<h>%i"


@pytest.mark.parametrize(
    "spelled",
    [
        ODD,
        json.dumps(ODD)[1:-1],
        json.dumps(json.dumps(ODD))[3:-3],
        json.dumps(ODD)[1:-1].replace("/", "\\/"),
        repr(ODD)[1:-1],
        repr(ODD.encode())[2:-1],
        repr(bytearray(ODD.encode()))[12:-2],
        quote(ODD, safe=""),
        quote(quote(ODD)),
        html.escape(ODD),
        "".join(f"\\u{ord(character):04x}" for character in ODD),
        "".join(f"\\u{ord(character):04X}" for character in ODD),
        "".join(f"\\x{ord(character):02x}" for character in ODD),
        "".join(f"&#{ord(character)};" for character in ODD),
        "".join(f"%{ord(character):02x}" for character in ODD),
    ],
)
def test_a_token_is_found_however_it_is_spelled(spelled: str) -> None:
    """In JSON, within JSON, in Python's `repr` of texts and bytes, in addresses and in HTML."""
    assert Token(ODD).redacted(f"sent: {spelled}.") == "sent: ***."


def test_a_token_with_spaces_is_found_in_what_a_form_sends() -> None:
    """Forms write a space as a plus; a plus that is one stays one."""
    token = Token("two words + more")
    assert token.redacted(f"key={quote_plus('two words + more')}&a=b+c") == "key=***&a=b+c"
    assert Token("one+two").redacted("one two") == "one two"


@pytest.mark.parametrize("spelled", [ODD, json.dumps(ODD)[1:-1], quote(ODD, safe="")])
def test_a_cut_leaves_no_part_of_it(spelled: str) -> None:
    """Wherever a text was cut, at its end or at its beginning, nothing but stars is left of the token."""
    for length in range(1, len(spelled)):
        assert Token(ODD).redacted(f"z {spelled[:length]}", is_cut=True) == "z ***"
    # A piece of a spelling is told by nothing, so only whole ones count at the beginning.
    for character in range(1, len(ODD)):
        assert Token(ODD).redacted(f"{ODD[character:]} z", is_cut_before=True) == "*** z"


@pytest.mark.parametrize("text", ["", "nothing here", "a/b", "100 %", "C:\\", "tail &am", "a&#4"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    """Whole texts are not searched for parts, and what is no beginning of the token is none of a cut text."""
    assert Token("0123456789").redacted(text, is_cut=True, is_cut_before=True) == text
    assert Token(ODD).redacted(text) == text


def test_what_stands_around_a_token_stays() -> None:
    """The JSON around it can still be read."""
    text = json.dumps({ODD: [f"\\{ODD}\\", f'"{ODD}"']})
    assert json.loads(Token(ODD).redacted(text)) == {"***": ["\\***\\", '"***"']}


def test_a_long_body_is_searched_fast() -> None:
    """A megabyte of escapes takes no time to speak of."""
    text = json.dumps("\\ü&%" * 200_000)
    assert Token("0123456789abcdef").redacted(text, is_cut=True) == text


def test_a_token_is_in_no_representation() -> None:
    """Whoever prints it prints no secret."""
    assert ODD not in repr(Token(ODD))
