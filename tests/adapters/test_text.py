from __future__ import annotations

import pytest

from skilleval.adapters.text import compact_json, decoded, excerpt, parsed_json, storable


@pytest.mark.parametrize(
    ("data", "text", "n_places"),
    [
        (b"", "", 0),
        ("aü\ufffd€".encode(), "aü\ufffd€", 0),
        (b"a\xcab", "a\ufffdb", 1),
        (b"a\xca\xffb", "a\ufffd\ufffdb", 1),
        (b"\xffa\xff", "\ufffda\ufffd", 2),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd", 1),
        ("ü".encode()[:1], "\ufffd", 1),
    ],
)
def test_wrong_bytes_are_replaced_and_their_places_counted(data: bytes, text: str, n_places: int) -> None:
    """Neighbouring wrong bytes are one place; a replacement character that was sent is none."""
    assert decoded(data) == (text, n_places)


def test_a_character_that_we_cut_in_two_is_no_damage() -> None:
    """Where the cap cut the output, the rest of its last character is dropped; earlier damage still counts."""
    assert decoded("aü".encode()[:2], is_cut=True) == ("a", 0)
    assert decoded(b"\xff" + "aü".encode()[:2], is_cut=True) == ("\ufffda", 1)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"short", "short"),
        (b"x" * 65_536, "x" * 65_536),
        (b"y" + b"x" * 65_536, "…" + "x" * 65_536),
        ("ü".encode() * 32_768 + b"x", "…" + "ü" * 32_767 + "x"),
    ],
)
def test_an_excerpt_is_the_end_in_whole_characters(data: bytes, text: str) -> None:
    """What is longer than the cap loses its beginning and shows it."""
    assert excerpt(data) == text


def test_lone_surrogates_are_replaced_and_counted() -> None:
    """Text that came from JSON escapes can be written as UTF-8 afterwards."""
    assert storable("a\ud800b\udc00\udc00") == ("a\ufffdb\ufffd", 2)
    assert storable("aü😀") == ("aü😀", 0)


def test_json_keeps_key_order_and_large_numbers() -> None:
    """The text says what the skill said: order, 70 bits, no ASCII escapes, no spaces."""
    assert compact_json({"b": 2**70, "a": ["ü", None]}) == ('{"b":1180591620717411303424,"a":["ü",null]}', 0)
    assert compact_json("\ud800") == ('"\ufffd"', 1)


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", "", "{"])
def test_only_json_is_json(text: str) -> None:
    """The constants that Python's reader would let pass are refused."""
    with pytest.raises(ValueError, match=r"not JSON|Expecting"):
        parsed_json(text)


def test_a_number_beyond_the_floats_is_refused() -> None:
    """An overflow must not become the word Infinity in the results."""
    with pytest.raises(ValueError, match="Out of range"):
        compact_json(parsed_json("[1e999]"))
