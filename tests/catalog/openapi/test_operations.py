from __future__ import annotations

from typing import Any

import pytest
from apis import PLAIN_ANSWER, answers, api, json_content, one_operation, reason_left_out

from skilleval.catalog.openapi.operations import LeftOut, Operation, read_operations
from skilleval.errors import CatalogError


def _body(content: Any, **more: Any) -> dict[str, Any]:
    return {"requestBody": {"content": content, **more}}


def test_an_operation_is_named_as_its_document_names_it() -> None:
    """Name, description and tags; who is deprecated is tagged so."""
    operation = one_operation(
        operationId="listTeas",
        summary=" List\n teas ",
        description="All.\n",
        tags=["tea", "tea"],
        deprecated=True,
    )
    assert (operation.own_id, operation.name, operation.description) == ("listTeas", "List teas", "All.")
    assert operation.tags == ("tea", "deprecated")
    assert (operation.method, operation.label, operation.auth) == ("GET", "GET /teas", None)
    assert one_operation(operationId="listTeas").name == "listTeas"
    assert one_operation().name == "GET /teas"
    assert one_operation(summary=" ", operationId=" ").name == "GET /teas"


def test_each_path_and_method_is_an_operation() -> None:
    """In the order of the paths; methods without an output and remote paths are left out, extensions passed over."""
    document = api(
        {
            "x-note": 3,
            "/a": {"post": {"responses": answers()}, "get": {"responses": answers()}, "head": {}},
            "/b": {"$ref": "#/components/pathItems/b"},
            "/c": {"$ref": "c.yaml"},
        },
        components={"pathItems": {"b": {"delete": {"responses": answers()}}}},
    )
    found = list(read_operations(document))
    assert [one.label for one in found] == ["GET /a", "POST /a", "HEAD /a", "DELETE /b", "/c"]
    assert [one.reason for one in found if isinstance(one, LeftOut)] == [
        "HEAD gives no output",
        "it refers to c.yaml: only pointers in this document are followed",
    ]


@pytest.mark.parametrize(
    ("responses", "reason"),
    [
        ({"404": {"description": ""}, "default": {"description": ""}}, "no answer 2xx is described"),
        ({}, "no answer 2xx is described"),
        ({"204": {"description": "gone"}}, "its answer has no content"),
        (
            {"200": {"description": "", "content": {"text/csv": {}, "image/png": {}}}},
            "it answers text/csv or image/png, and an output is JSON",
        ),
        ({"200": {"description": "", "content": {"application/json": {}}}}, "its answer has no schema"),
        ({"200": {"$ref": "answers.yaml#/ok"}}, "it refers to answers.yaml#/ok: only pointers in this"),
    ],
)
def test_an_operation_whose_answer_cannot_be_judged_is_left_out(responses: Any, reason: str) -> None:
    """There must be a good answer, in JSON, with a schema."""
    assert reason_left_out(responses=responses).startswith(reason)


def test_all_good_answers_in_json_count() -> None:
    """By their codes in order; what is no JSON among them is passed over, as is what is not good."""
    good = {"description": "", "content": {"text/plain": {}, **json_content(PLAIN_ANSWER)}}
    responses = {
        "default": good,
        "2XX": good,
        "404": good,
        "201": good,
        "204": {"description": ""},
        "200": {"$ref": "#/components/responses/ok"},
    }
    operation = one_operation(responses=responses, document={"components": {"responses": {"ok": good}}})
    assert [node.place[-4] for node in operation.answers] == ["ok", "201", "2XX"]


@pytest.mark.parametrize(
    ("kinds", "kind"),
    [
        (["text/html", "application/json; charset=utf-8"], "application/json; charset=utf-8"),
        (["application/vnd.tea+json", "application/json"], "application/json"),
        (["application/vnd.tea+json"], "application/vnd.tea+json"),
        (["*/*"], "application/json"),
    ],
)
def test_json_has_many_names(kinds: list[str], kind: str) -> None:
    """The plainest one is asked for and sent; what stands for any type is JSON."""
    content = {name: {"schema": PLAIN_ANSWER} for name in kinds}
    operation = one_operation(
        method="post", responses={"200": {"description": "", "content": content}}, **_body(content)
    )
    assert (operation.accepts, operation.sends) == (kind, kind)


def test_a_body_is_one_member_of_the_input() -> None:
    """With its examples; it is required where the document says so."""
    body = one_operation(method="post", **_body(json_content({"type": "array"}, example=[1])))
    (one,) = body.parameters
    assert (one.member, one.place(), one.is_required, one.examples) == ("body", {"in": "body"}, False, ([1],))
    required = one_operation(method="post", **_body(json_content({}), required=True))
    assert required.parameters[0].is_required


def test_a_body_that_is_no_json_is_left_out_where_it_is_needed() -> None:
    """Multipart is not written; an optional one is not sent."""
    content = {"multipart/form-data": {"schema": {"type": "object"}}}
    assert one_operation(method="post", **_body(content)).parameters == ()
    reason = reason_left_out(method="post", **_body(content, required=True))
    assert reason == "it takes multipart/form-data, and skills are given JSON"


@pytest.mark.parametrize(
    ("paths", "key"),
    [
        ([], "paths"),
        ({"/a": 3}, 'paths["/a"]'),
        ({"/a": {"get": []}}, 'paths["/a"].get'),
        ({"/a": {"get": {"tags": "x"}}}, 'paths["/a"].get.tags'),
        ({"/a": {"get": {"responses": []}}}, 'paths["/a"].get.responses'),
        ({"/a": {"get": {"responses": {"200": 3}}}}, 'paths["/a"].get.responses.200'),
        (
            {"/a": {"get": {"responses": {"200": {"content": []}}}}},
            'paths["/a"].get.responses.200.content',
        ),
        ({"/a": {"get": {"responses": answers(), "parameters": {}}}}, 'paths["/a"].get.parameters'),
        (
            {"/a": {"get": {"responses": answers(), "parameters": [{"name": "", "in": "query"}]}}},
            'paths["/a"].get.parameters[0].name',
        ),
        ({"/a/{b}": {"get": {"responses": answers()}}}, 'paths["/a/{b}"].get.parameters'),
        (
            {"/a": {"get": {"responses": answers(), "parameters": [{"name": "b", "in": "path"}]}}},
            'paths["/a"].get.parameters',
        ),
        ({"a": {"get": {"responses": answers()}}}, "paths.a"),
        (
            {"/a": {"post": {"responses": answers(), "requestBody": {"content": 3}}}},
            'paths["/a"].post.requestBody.content',
        ),
    ],
)
def test_a_malformed_document_is_one_error_with_its_place(paths: Any, key: str) -> None:
    """It is not a reason to leave an operation out: the document has to be mended."""
    with pytest.raises(CatalogError) as caught:
        list(read_operations(api(paths)))
    (problem,) = caught.value.problems
    assert (problem.where, problem.key) == ("shop.yaml", key)
    assert problem.expected
    assert problem.found


def test_a_server_without_a_host_is_the_start_of_the_path() -> None:
    """With a host it is the address; `base_url` stands for all of it."""
    paths = {"/a": {"get": {"responses": answers()}}}
    for url, expected in (("/v1/", ("", "/v1/a")), ("http://h.example/v1/", ("http://h.example/v1", "/a"))):
        (one,) = read_operations(api(paths, servers=[{"url": url}]))
        assert isinstance(one, Operation)
        assert (one.address, one.path) == expected
        (other,) = read_operations(api(paths, servers=[{"url": url}]), base_url="http://127.0.0.1:3/")
        assert isinstance(other, Operation)
        assert (other.address, other.path) == ("http://127.0.0.1:3", "/a")
