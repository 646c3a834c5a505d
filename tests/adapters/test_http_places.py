from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from skilleval.adapters.http_places import Placed, UnsendableError, build_places, placed
from skilleval.domain.attempts import Reply, Status

Ask = Callable[..., Reply]


def _placed(value: Any, **place: Any) -> Placed:
    return placed(build_places({"a": place}), {"a": value})


@pytest.mark.parametrize(
    ("place", "value", "query"),
    [
        ({}, "x y&z=ü/", "a=x%20y%26z%3D%C3%BC%2F"),
        ({}, 3, "a=3"),
        ({}, True, "a=true"),
        ({}, None, ""),
        ({"name": "a[]"}, ["x", 1], "a%5B%5D=x&a%5B%5D=1"),
        ({"explode": False}, ["x,y", 1], "a=x%2Cy,1"),
        ({"explode": False}, {"r": 1, "g": "2"}, "a=r,1,g,2"),
        ({}, {"r": 1, "g": [2]}, "r=1&g=%5B2%5D"),
        ({}, [], ""),
        ({"style": "spaceDelimited"}, ["x", "y"], "a=x%20y"),
        ({"style": "pipeDelimited"}, ["x", "y"], "a=x%7Cy"),
        ({"style": "pipeDelimited", "explode": True}, ["x", "y"], "a=x&a=y"),
        ({"style": "deepObject"}, {"r": 1, "g": "2"}, "a%5Br%5D=1&a%5Bg%5D=2"),
        ({"style": "json"}, {"r": [1]}, "a=%7B%22r%22%3A%5B1%5D%7D"),
        ({"style": "json"}, "x", "a=%22x%22"),
    ],
)
def test_a_value_in_the_query_has_the_form_of_its_style(place: Any, value: Any, query: str) -> None:
    """As OpenAPI says; values are quoted, what stands between them is not."""
    assert _placed(value, **{"in": "query", **place}).query == query


@pytest.mark.parametrize(
    ("place", "value", "step"),
    [
        ({}, "a/b c", "a%2Fb%20c"),
        ({}, 7, "7"),
        ({}, ["x", 1], "x,1"),
        ({}, {"r": 1}, "r,1"),
        ({"explode": True}, {"r": 1, "g": 2}, "r=1,g=2"),
        ({"style": "json"}, [1], "%5B1%5D"),
    ],
)
def test_a_value_in_the_path_is_one_step(place: Any, value: Any, step: str) -> None:
    """Whatever it holds, it adds no step to the address."""
    parts = _placed(value, **{"in": "path", **place})
    assert parts.address("http://h/{a}/x?k={a}") == f"http://h/{step}/x?k={{a}}"


@pytest.mark.parametrize("value", ["", ".", "..", [], [""]])
def test_a_value_that_would_lead_to_another_address_is_not_sent(value: Any) -> None:
    """`/teas/..` is another operation."""
    with pytest.raises(UnsendableError, match="which is no part of an address"):
        _placed(value, **{"in": "path"})


def test_headers_hold_plain_text() -> None:
    """A list is joined by commas; what would begin another header is refused."""
    assert _placed(["x", 1], **{"in": "header", "name": "X-A"}).headers == {"X-A": "x,1"}
    for value in ("a\r\nCookie: b", "ü", " a"):
        with pytest.raises(UnsendableError, match="only printable ASCII"):
            _placed(value, **{"in": "header"})


def test_a_body_is_json_also_where_it_is_null() -> None:
    """Nothing is wrapped around it."""
    assert _placed({"ü": [None]}, **{"in": "body"}).body == '{"ü":[null]}'
    assert _placed(None, **{"in": "body"}).body == "null"


def test_a_member_without_a_place_and_a_step_without_a_member_are_refused() -> None:
    """Nothing of an input is dropped without a word."""
    places = build_places({"a": {"in": "path"}})
    with pytest.raises(UnsendableError, match="the skill has no parameter b"):
        placed(places, {"a": 1, "b": 2})
    with pytest.raises(UnsendableError, match="the input has no a, which is part of the address"):
        placed(places, {"a": None}).address("/x/{a}")


PARAMETERS = {
    "teaId": {"in": "path"},
    "kinds": {"in": "query", "explode": False},
    "steep": {"in": "header", "name": "X-Steep"},
    "body": {"in": "body"},
}


def test_each_member_arrives_at_its_place(ask: Ask, loopback: Any) -> None:
    """On the wire: path, query beside that of the address, header over that of the file, and the body as it is."""
    given = {"teaId": "a/b", "kinds": ["x", "y"], "steep": "3 min", "body": [1, "\ud800"]}
    own = {
        "base_url": loopback.url,
        "method": "DELETE",
        "parameters": PARAMETERS,
        "headers": {"X-Steep": "0"},
    }
    reply = ask("/v1/teas/{teaId}?k=v", own=own, changes={"input": given})
    assert (reply.status, reply.output) == (Status.COMPLETED, '{"sum":3}')
    (asked,) = loopback.seen
    assert (asked.method, asked.path) == ("DELETE", "/v1/teas/a%2Fb?k=v&kinds=x,y")
    assert (asked.headers["x-steep"], asked.headers["content-type"]) == ("3 min", "application/json")
    assert json.loads(asked.body) == [1, "\ud800"]


def test_without_a_body_in_the_input_none_is_sent(ask: Ask, loopback: Any) -> None:
    """Also by POST, and the type of a body that is not there is not said."""
    ask("/a", own={"base_url": loopback.url, "parameters": {}}, changes={"input": {}})
    (asked,) = loopback.seen
    assert (asked.method, asked.path, asked.body) == ("POST", "/a", b"")
    assert "content-type" not in asked.headers


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"x": 1}, "the skill has no parameter x"),
        ({}, "the input has no teaId, which is part of the address"),
        ({"teaId": ".."}, "teaId is '..', which is no part of an address"),
    ],
)
def test_an_input_that_cannot_be_sent_is_nobodys_fault(
    given: Any, message: str, ask: Ask, loopback: Any
) -> None:
    """It is unsupported with its reason, and nothing is sent."""
    own = {"base_url": loopback.url, "parameters": PARAMETERS}
    reply = ask("/teas/{teaId}", own=own, changes={"input": given})
    assert (reply.status, reply.failure_kind, reply.message) == (Status.UNSUPPORTED, "unsendable", message)
    assert loopback.seen == []
