from __future__ import annotations

from typing import Any

import pytest
from apis import answers, api, json_content, one_operation, reason_left_out

from skilleval.catalog.openapi.operations import Operation, read_operations

TEXT = {"schema": {"type": "string"}}


def _query(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", **TEXT, **more}


def _places(operation: Operation) -> dict[str, Any]:
    return {one.member: one.place() for one in operation.parameters}


@pytest.mark.parametrize(
    ("parameter", "place"),
    [
        (_query("a"), {"in": "query"}),
        (_query("a", style="form", explode=True), {"in": "query"}),
        (_query("a", explode=False), {"in": "query", "explode": False}),
        (_query("a", style="pipeDelimited"), {"in": "query", "style": "pipeDelimited"}),
        (_query("a", style="deepObject", explode=True), {"in": "query", "style": "deepObject"}),
        ({"name": "a", "in": "header", **TEXT}, {"in": "header"}),
        ({"name": "a", "in": "header", "explode": True, **TEXT}, {"in": "header", "explode": True}),
        ({"name": "a", "in": "query", "content": json_content({})}, {"in": "query", "style": "json"}),
    ],
)
def test_a_parameter_becomes_a_place_in_which_the_usual_is_not_said(parameter: Any, place: Any) -> None:
    """Style and explode stand there only where they differ from what goes without saying."""
    assert _places(one_operation(parameters=[parameter])) == {"a": place}


def test_parameters_of_the_operation_win_over_those_of_the_path() -> None:
    """By name and place; both kinds may be references."""
    path = {
        "parameters": [{"$ref": "#/components/parameters/size"}, _query("a", required=True)],
        "get": {"parameters": [_query("a", description="own")], "responses": answers()},
    }
    document = api({"/x": path}, components={"parameters": {"size": _query("size")}})
    (operation,) = read_operations(document)
    assert isinstance(operation, Operation)
    assert [(one.member, one.description, one.is_required) for one in operation.parameters] == [
        ("size", "", False),
        ("a", "own", False),
    ]


def test_names_that_meet_get_their_place_in_front() -> None:
    """The body, a query and a path that share a name are three members; the wire keeps the name."""
    operation = one_operation(
        "/x/{id}/{port}",
        "put",
        parameters=[
            {"name": "id", "in": "path", "required": True, **TEXT},
            {"name": "port", "in": "path", "required": True, **TEXT},
            _query("id"),
            _query("body"),
            _query("filter{x}"),
            _query("query_id"),
        ],
        requestBody={"content": json_content({})},
    )
    assert _places(operation) == {
        "path_id": {"in": "path"},
        "path_port": {"in": "path"},
        "query_id_": {"in": "query", "name": "id"},
        "query_body": {"in": "query", "name": "body"},
        "filter_x_": {"in": "query", "name": "filter{x}"},
        "query_id": {"in": "query"},
        "body_body": {"in": "body"},
    }
    assert operation.path == "/x/{path_id}/{path_port}"


@pytest.mark.parametrize(
    ("parameter", "reason"),
    [
        ({"name": "a", "in": "cookie"}, "the cookie parameter a, and skills have no cookies"),
        (
            {"name": "Cookie", "in": "header"},
            "the header parameter Cookie, a header that is not free to be set",
        ),
        ({"name": "a b", "in": "header"}, "the header parameter a b, a header that is not free to be set"),
        ({"name": "a", "in": "query", "style": "tabs"}, "the query parameter a, in the style tabs, which"),
        (
            {"name": "a", "in": "query", "content": {"text/xml": {}}},
            "the query parameter a, written as text/xml",
        ),
    ],
)
def test_what_cannot_be_sent_is_done_without_unless_it_is_needed(parameter: Any, reason: str) -> None:
    """An optional parameter is not offered; one that is required leaves the operation out."""
    assert one_operation(parameters=[parameter]).parameters == ()
    assert reason_left_out(parameters=[{**parameter, "required": True}]).startswith(f"it needs {reason}")


def test_headers_that_openapi_says_otherwise_are_no_parameters() -> None:
    """Accept, Content-Type and Authorization are ignored even where they are required."""
    headers = ("Accept", "content-type", "AUTHORIZATION")
    asked = [{"name": name, "in": "header", "required": True, **TEXT} for name in headers]
    assert one_operation(parameters=asked).parameters == ()


def test_examples_beside_the_schema_come_in_their_order() -> None:
    """The one example first, then those with names; what is not written there is not fetched."""
    examples = {
        "far": {"externalValue": "https://example.com/a.json"},
        "near": {"value": 2},
        "other": {"$ref": "#/components/examples/three"},
    }
    parameter = _query("a", example=1, examples=examples)
    document = {"components": {"examples": {"three": {"value": 3}}}}
    assert one_operation(parameters=[parameter], document=document).parameters[0].examples == (1, 2, 3)
