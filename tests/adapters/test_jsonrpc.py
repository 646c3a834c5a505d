from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.adapters.jsonrpc import find_reply, request

PLAIN = '{"jsonrpc":"2.0","id":1,"result":{"sum":3}}'
PRETTY = '{\n  "jsonrpc": "2.0",\n  "result": {\n    "sum": 3\n  },\n  "id": 1\n}'


@pytest.mark.parametrize(
    "printed",
    [
        PLAIN,
        f"{PLAIN}\n",
        f"\ufeff{PLAIN}",
        PLAIN.replace(":1,", ':"1",'),
        PLAIN.replace(":1,", ":null,"),
        PLAIN.replace('"id":1,', ""),
        PLAIN.replace("{", '{"error":null,', 1),
        PRETTY,
        PRETTY.replace("\n", "\r\n"),
        f"loading model\n{PLAIN}\nbye\n",
        f"\x1b[32mINFO\x1b[0m ready\r\n\x1b[1m{PLAIN}\x1b[0m\r\n",
        f"\x1b]0;title\x07{PLAIN}",
        PLAIN.replace(",", ",\x1b[33m"),
        f"50%\r100%\rdone {PLAIN} tail",
        f"a 5\" screen isn't {PLAIN}",
        f'unbalanced {{ and " before\n{PLAIN}',
        f"closing }} before {PLAIN} and }} after",
        f"{{'python': 'repr'}}\n{PRETTY}",
        f'{{"level":"info","text":"brace }} in a string"}}\n{PLAIN}',
        f"{PLAIN.replace('3', '4')}\n{PLAIN}",
        f'{PLAIN}\n{{"jsonrpc":"2.0","method":"progress","params":{{"share":1}}}}',
        f'{PLAIN}\n{{"jsonrpc":"2.0","id":7,"result":{{"sum":9}}}}',
        f'{PLAIN}\n{{"jsonrpc":"2.0","id":1,"result":NaN}}',
        f"wrapped {{ {PLAIN} }}",
    ],
)
def test_a_reply_is_found_whatever_surrounds_it(printed: str) -> None:
    """Noise, colours, byte order marks, line ends and layout do not hide the last valid reply."""
    reply = find_reply(printed)
    assert reply is not None
    assert (reply.result, reply.error) == ({"sum": 3}, None)


@pytest.mark.parametrize(
    "printed",
    [
        "",
        "3",
        '{"sum":3}',
        "Traceback (most recent call last): ...",
        '{"jsonrpc":"2.0","id":1}',
        '{"jsonrpc":"2.0","id":1,"error":null}',
        '{"jsonrpc":"1.0","id":1,"result":3}',
        '{"jsonrpc":2.0,"id":1,"result":3}',
        '{"jsonrpc":"2.0","id":2,"result":3}',
        '{"jsonrpc":"2.0","id":"one","result":3}',
        '{"jsonrpc":"2.0","id":true,"result":3}',
        '{"jsonrpc":"2.0","id":[1],"result":3}',
        '{"jsonrpc":"2.0","id":1,"result":NaN}',
        '{"jsonrpc":"2.0","id":1,"result":-Infinity}',
        '{"jsonrpc":"2.0","id":1,"result":3',
        "{'jsonrpc':'2.0','id':1,'result':3}",
        f'{{"log":{PLAIN}}}',
        json.dumps({"text": PLAIN}),
    ],
)
def test_what_is_no_reply_is_not_taken_for_one(printed: str) -> None:
    """Other versions, other ids, half a reply, and a reply inside another value do not count."""
    assert find_reply(printed) is None


def test_a_null_result_is_a_reply() -> None:
    """A result that is null is there."""
    reply = find_reply('{"jsonrpc":"2.0","id":1,"result":null}')
    assert reply is not None
    assert (reply.result, reply.error) == (None, None)


def test_an_error_wins_over_a_result() -> None:
    """A reply with both failed."""
    reply = find_reply('{"jsonrpc":"2.0","id":1,"result":3,"error":{"code":-32000,"message":"no"}}')
    assert reply is not None
    assert reply.error == {"code": -32000, "message": "no"}


MARKED = '{"jsonrpc":"2.0","a":'


@pytest.mark.parametrize(
    "printed",
    [
        "{" * 1_000_000,
        "{}" * 500_000,
        "{[" * 500_000,
        '{"' * 500_000,
        '"' * 1_000_000,
        '{"' + "\\" * 1_000_000,
        "\x1b[" * 500_000,
        "\x1b]" * 500_000,
        "\x1b[" + "0" * 1_000_000,
        '{"jsonrpc":"2.0",' * 60_000,
        '{"jsonrpc"' * 50_000 + "}" * 50_000,
        (MARKED * 500 + "[0" + ",0" * 400_000 + "}" * 500),
        ('{"jsonrpc":"2.0","a":"' + "x" * 1000 + '"x}') * 1000,
    ],
    ids=range(13),
)
def test_hostile_output_is_read_in_linear_time(printed: str) -> None:
    """A megabyte made to be read again and again is given up on quickly."""
    started = time.process_time()
    assert find_reply(printed) is None
    assert time.process_time() - started < 10.0


def test_a_reply_after_hostile_output_is_still_found() -> None:
    """What precedes the reply does not use up the work allowed for it."""
    reply = find_reply(f"{'{' * 100_000}\n{MARKED * 200}\n{PLAIN}")
    assert reply is not None
    assert reply.result == {"sum": 3}


def test_a_reply_nested_too_deeply_is_told_apart() -> None:
    """Deep nesting is an error of its own and not a missing reply."""
    with pytest.raises(RecursionError):
        find_reply(f'{{"jsonrpc":"2.0","id":1,"result":{"[" * 100_000}{"]" * 100_000}}}')


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(
    result=_JSON,
    indent=st.sampled_from([None, 2]),
    escaped=st.booleans(),
    noise=st.text(alphabet="a 'b\n\r}[,:"),
)
def test_any_result_comes_back_unchanged(result: Any, indent: int | None, escaped: bool, noise: str) -> None:
    """Whatever JSON a skill answers, in whatever layout, is what is read."""
    printed = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}, indent=indent, ensure_ascii=escaped)
    reply = find_reply(f"{noise}{printed}{noise}")
    assert reply is not None
    assert reply.result == result


def test_the_request_is_one_line_with_the_input_as_params() -> None:
    """Key order and characters stay; a lone surrogate, which UTF-8 cannot hold, is escaped."""
    line = request({"b": "ü", "a": "\ud800", "n": 2**70})
    params = '{"b":"ü","a":"\\ud800","n":1180591620717411303424}'
    assert line.decode() == f'{{"jsonrpc":"2.0","method":"invoke","params":{params},"id":1}}\n'


def test_a_request_to_a_program_that_serves_many_tells_about_its_trial() -> None:
    """Beside the input and not in it, with an id of its own."""
    line = request({"a": 1}, request_id=7, trial={"seed": 5, "repeat": 2})
    assert json.loads(line) == {
        "jsonrpc": "2.0",
        "method": "invoke",
        "params": {"a": 1},
        "id": 7,
        "skilleval": {"seed": 5, "repeat": 2},
    }


def test_a_reply_may_carry_one_of_several_ids() -> None:
    """As a number or as text; those of others are none."""
    printed = [PLAIN.replace(":1,", f":{one},") for one in ("7", '"7"', "7.0", "8", "true", "[7]")]
    assert [find_reply(one, (7, 1)) is not None for one in printed] == [True, True, True, False, False, False]
    assert find_reply(PLAIN, (7, 1)) is not None
    assert find_reply(PLAIN, (7,)) is None
