from __future__ import annotations

import json
import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.adapters.reply_reader import ReplyReader

PLAIN = b'{"jsonrpc":"2.0","id":5,"result":{"sum":3}}'
PRETTY = json.dumps(json.loads(PLAIN), indent=2).encode()


def _fed(pieces: Iterable[bytes], request_id: int = 5) -> ReplyReader:
    reader = ReplyReader(request_id)
    for piece in pieces:
        reader.feed(piece)
        if reader.is_over:
            break
    return reader


def _result(reader: ReplyReader) -> object:
    return None if reader.reply is None else reader.reply.result


@pytest.mark.parametrize(
    "printed",
    [
        PLAIN + b"\n",
        PLAIN,
        b"\n\n" + PLAIN + b"\r\n",
        b"loading\n" + PLAIN + b"\n",
        b"50%\r100%\r\x1b[32mdone\x1b[0m " + PLAIN + b" tail\n",
        PRETTY + b"\n",
        PRETTY,
        PRETTY.replace(b"\n", b"\r\n") + b"\r\n",
        b'{\n"a": 1\n}\n' + PRETTY,
        b'{"jsonrpc":"2.0","id":4,"result":"older"}\n' + PLAIN,
        b'{"jsonrpc":"2.0","id":"x","result":"another"}\n' + PLAIN,
        b'{"log":{"jsonrpc":"2.0","id":5,"result":"inner"}}\n' + PLAIN,
        b'\xff {"jsonrpc"\n' + PLAIN,
    ],
)
def test_a_reply_is_seen_in_whatever_pieces_it_comes(printed: bytes) -> None:
    """As soon as its last byte is there, or the end of its line."""
    for size in (len(printed), 7, 1):
        reader = _fed(printed[start : start + size] for start in range(0, len(printed), size))
        assert (_result(reader), reader.is_answered, reader.misfit) == ({"sum": 3}, True, None)
        assert printed.lstrip(b"\n").startswith(reader.printed)


@pytest.mark.parametrize(
    "printed",
    [
        b"",
        PLAIN[:-1],
        b'{"log":' + PLAIN + b"}\n",
        PLAIN.replace(b"5", b"4") + b"\n",
        PLAIN.replace(b"result", b"params") + b"\n",
        b"done " + PLAIN + b"!",
    ],
)
def test_what_is_no_reply_yet_is_waited_for(printed: bytes) -> None:
    """Half a reply, a reply within another value, one to another request."""
    assert not _fed([printed]).is_over


@pytest.mark.parametrize(
    ("printed", "misfit"),
    [
        (b'{"jsonrpc":"2.0","result":1}\n', "the reply has no id"),
        (b'{"jsonrpc":"2.0","id":null,"result":1}\n', "the reply has no id"),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}\n', None),
        (b'{"jsonrpc":"2.0","id":1,"result":1}\n', "the reply has the id 1 and not that of the request"),
        (b'{"jsonrpc":"2.0","id":"1","error":"x"}\n', "the reply has the id 1 and not that of the request"),
    ],
)
def test_a_reply_without_the_id_of_the_request_is_a_misfit(printed: bytes, misfit: str | None) -> None:
    """Nobody knows to which request it belongs; an error about something unreadable is allowed to be without."""
    reader = _fed([printed])
    assert (reader.is_over, reader.is_answered, reader.misfit) == (True, False, misfit)


def test_a_reply_in_any_layout_is_found_when_no_more_can_come() -> None:
    """At the end it does not matter where lines begin."""
    reader = _fed([b"done ", PLAIN[:17] + b"\n" + PLAIN[17:], b"!"])
    assert not reader.is_over
    reader.look_at_all()
    assert _result(reader) == {"sum": 3}


def test_the_late_line_end_of_the_reply_before_is_not_counted() -> None:
    """Empty lines that come first are nobody's output."""
    reader = _fed([b"\n", b"\r\n", b"noise\n", b"\n"])
    assert (reader.printed, len(reader)) == (b"noise\n\n", 7)


def test_a_reply_nested_too_deeply_is_over() -> None:
    """It is told apart from none."""
    deep = b'{"jsonrpc":"2.0","id":5,"result":' + b"[" * 50_000 + b"]" * 50_000 + b"}\n"
    reader = _fed([deep])
    assert (reader.reply, reader.is_too_deep, len(reader)) == (None, True, len(deep))


@pytest.mark.parametrize("unit", [b"}", b"{\n", b"}\n", b'{"jsonrpc"}', b'"jsonrpc"}', b'{"jsonrpc"\n'])
def test_hostile_output_in_small_pieces_costs_its_length(unit: bytes) -> None:
    """Nothing is read again and again, however many ends a program pretends."""
    started = time.process_time()
    reader = _fed(unit for _ in range(100_000))
    assert not reader.is_over
    assert time.process_time() - started < 4.0


@given(
    result=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ),
    indent=st.sampled_from([None, 2, "\t"]),
    noise=st.lists(st.text(alphabet="a 'b\r}[,:"), max_size=3),
    cuts=st.lists(st.integers(0, 400), max_size=4),
)
def test_any_result_comes_back_unchanged(
    result: Any, indent: int | str | None, noise: list[str], cuts: list[int]
) -> None:
    """Whatever JSON a skill answers, on one line or laid out, after whatever lines and in whatever pieces."""
    reply = json.dumps({"jsonrpc": "2.0", "id": 5, "result": result}, indent=indent)
    printed = "\n".join([*noise, reply, ""]).encode()
    places = [0, *sorted(cuts), len(printed) + 400]
    reader = _fed(printed[start:end] for start, end in pairwise(places))
    assert reader.is_answered
    assert _result(reader) == result
