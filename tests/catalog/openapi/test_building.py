from __future__ import annotations

from typing import Any

import pytest
from apis import TEA, answers, api, json_content, one_operation, shop_api

from skilleval.catalog.openapi.building import SkillBuilder, SkillFiles, skill_ids
from skilleval.catalog.openapi.document import ApiDocument, UnusableOperationError
from skilleval.catalog.openapi.operations import Operation, read_operations

STARTER = "tests/basic.eval.json"


def _ids(*own_ids: str, paths: tuple[str, ...] = ()) -> list[str]:
    named = {f"/p{n}": {"get": {"operationId": own, "responses": answers()}} for n, own in enumerate(own_ids)}
    unnamed = {path: {"get": {"responses": answers()}} for path in paths}
    found = read_operations(api({**named, **unnamed}))
    return list(skill_ids(one for one in found if isinstance(one, Operation)).values())


def _built(operation: Operation, document: ApiDocument | None = None) -> SkillFiles:
    return SkillBuilder(document or api({})).skill("tea", operation)


def _input(**values: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    files = _built(one_operation(method="post", **values))
    (task,) = files.values[STARTER]["tasks"]
    return task["inputData"], files.to_edit


def _query(name: str, schema: Any, *, required: bool = True, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": schema, **more}


@pytest.mark.parametrize(
    ("own_id", "expected"),
    [
        ("listTeas", "list-teas"),
        ("getHTTPStatus", "get-http-status"),
        ("pets_v2.list/all", "pets-v2-list-all"),
        ("../../etc/passwd", "etc-passwd"),
        ("con", "con-aea9a209"),
        ("茶", "operation-aea9a209"),
        ("x" * 80, "x" * 60),
    ],
)
def test_an_id_is_the_word_of_the_operation(own_id: str, expected: str) -> None:
    """A plain word that is a safe folder name; a hash only where no such word is left."""
    assert _ids(own_id) == [expected]


def test_operations_that_come_to_one_word_are_kept_apart() -> None:
    """Both get the hash of method and path, whatever their order; without an id method and path are the word."""
    one, other, third = _ids("listTeas", "list-teas", "list_all")
    assert one.startswith("list-teas-")
    assert other.startswith("list-teas-")
    assert one != other
    assert third == "list-all"
    assert _ids(paths=("/teas/all", "/teas/")) == ["get-teas-all", "get-teas"]
    assert len(set(_ids(paths=("/teas", "/teas/", "/Teas")))) == 3


def test_the_files_of_a_skill() -> None:
    """Manifest, how it is driven, and a benchmark that says it is only a start."""
    document = ApiDocument(where="docs/shop.json", root=shop_api("http://127.0.0.1:3"), is_31=False)
    operation = next(one for one in read_operations(document) if one.label == "PUT /teas/{teaId}")
    assert isinstance(operation, Operation)
    files = _built(operation, document)
    assert (files.id, files.label, files.to_edit) == ("tea", "PUT /teas/{teaId}", ())
    about = {"source": "shop.json", "operation": "PUT /teas/{teaId}"}
    tea = files.values["skill.json"]["outputSchema"]
    assert tea["$ref"] == "#/$defs/Tea"
    assert tea["$defs"]["Tea"]["properties"]["note"] == {"type": ["string", "null"]}
    assert files.values == {
        "skill.json": {
            "id": "tea",
            "name": "PUT /teas/{teaId}",
            "version": "2.1.0",
            "description": "",
            "tags": [],
            "inputSchema": {
                "type": "object",
                "required": ["teaId", "X-Steep"],
                "properties": {"teaId": {"type": "integer"}, "X-Steep": {"type": "string"}},
                "additionalProperties": False,
            },
            "outputSchema": tea,
            "adapterType": "http",
            "entrypoint": "/teas/{teaId}",
            "metadata": {"openapi": about},
        },
        "adapter.config.json": {
            "type": "http",
            "baseUrl": "http://127.0.0.1:3/v1",
            "method": "PUT",
            "parameters": {"teaId": {"in": "path"}, "X-Steep": {"in": "header"}},
            "authType": "header",
            "authTokenEnvKey": "SKILLEVAL_TEA_SHOP_KEY",
            "authHeader": "X-Tea-Key",
        },
        STARTER: {
            "id": "tea-basic",
            "name": "PUT /teas/{teaId}: starter",
            "version": "0.1.0",
            "domain": "tool-use",
            "scoringMethod": "mean",
            "metadata": {"starter": True, "openapi": about},
            "tasks": [
                {
                    "id": "starter",
                    "description": "PUT /teas/{teaId} answers as its document says",
                    "inputData": {"teaId": 7, "X-Steep": "example"},
                    "expectedOutput": {"type": "json_schema", "schema": tea},
                    "evaluator": {"type": "json_schema"},
                    "tags": ["starter"],
                }
            ],
        },
    }


@pytest.mark.parametrize(
    ("version", "expected"), [("1.0.27", "1.0.27"), ("v2", "0.1.0"), ("1.0.0-beta", "0.1.0")]
)
def test_a_version_that_a_skill_can_have_is_taken_over(version: str, expected: str) -> None:
    """Others begin at 0.1.0."""
    document = ApiDocument(where="a", root={"info": {"version": version}}, is_31=True)
    assert _built(one_operation(), document).values["skill.json"]["version"] == expected


def test_unusual_media_types_are_said_in_headers() -> None:
    """What is sent and what is asked for."""
    kind = "application/vnd.tea+json"
    content = {kind: {"schema": {"type": "object"}}}
    responses = {"200": {"description": "", "content": content}}
    files = _built(one_operation(method="post", responses=responses, requestBody={"content": content}))
    assert files.values["adapter.config.json"]["headers"] == {"Content-Type": kind, "Accept": kind}


@pytest.mark.parametrize("schema", [{}, True, {"description": "anything"}])
def test_an_answer_that_may_be_anything_makes_no_skill(schema: Any) -> None:
    """Its starter would be ungraded for ever."""
    with pytest.raises(UnusableOperationError, match="the schema of its answer accepts everything"):
        _built(one_operation(responses=answers(schema)))


def test_the_input_of_a_starter_is_the_least_one() -> None:
    """Required parameters and the body; examples beside a schema win over those in it, and these over inventions."""
    given, to_edit = _input(
        parameters=[
            _query("a", {"type": "integer", "example": 2}, example=1),
            _query("b", {"type": "integer", "examples": [2], "default": 3}),
            _query("c", {"type": "integer", "default": 3, "enum": [4, 3]}),
            _query("d", {"enum": ["x"]}),
            _query("e", {"type": "string", "format": "date"}),
            _query("f", {"type": "string"}, required=False),
        ],
        requestBody={
            "content": json_content(
                {"type": "object", "required": ["n"], "properties": {"n": {"type": "null"}}}
            )
        },
    )
    assert given == {"a": 1, "b": 2, "c": 3, "d": "x", "e": "2024-01-31", "body": {"n": None}}
    assert to_edit == ()


def test_an_example_that_does_not_fit_is_not_used() -> None:
    """Documents are wrong about themselves; the schema counts."""
    given, to_edit = _input(parameters=[_query("a", {"type": "integer"}, example="seven")])
    assert (given, to_edit) == ({"a": 1}, ())


def test_requests_do_not_hold_what_only_answers_have() -> None:
    """The id that the shop gives is not sent."""
    (operation,) = read_operations(
        api(
            {"/teas": {"post": {"responses": answers(), "requestBody": {"content": json_content(TEA)}}}},
            version="3.0.3",
            components={"schemas": {"Tea": TEA}},
        )
    )
    assert isinstance(operation, Operation)
    document = api({}, version="3.0.3", components={"schemas": {"Tea": TEA}})
    (task,) = _built(operation, document).values[STARTER]["tasks"]
    assert task["inputData"] == {"body": {"name": "sencha"}}


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string", "pattern": "^[0-9]+$"}, "a text was made up that does not match ^[0-9]+$"),
        ({"not": {"type": "string"}}, "no input could be made up that fits, inputData.a: "),
        ({"$ref": "#/components/schemas/Endless"}, "no input could be made up that fits, inputData: 'a' is"),
        ({"$ref": "#/components/schemas/Circle"}, "the input cannot be held against its schema"),
    ],
)
def test_what_could_not_be_made_up_is_told(schema: Any, told: str) -> None:
    """The skill is made all the same, and its author has to see to the starter."""
    schemas = {
        "Endless": {
            "type": "object",
            "required": ["e"],
            "properties": {"e": {"$ref": "#/components/schemas/Endless"}},
        },
        "Circle": {"anyOf": [{"allOf": [{"$ref": "#/components/schemas/Circle"}]}, {"not": {}}]},
    }
    document = api(
        {"/a": {"get": {"responses": answers(), "parameters": [_query("a", schema)]}}},
        components={"schemas": schemas},
    )
    (operation,) = read_operations(document)
    assert isinstance(operation, Operation)
    (doubt,) = _built(operation, document).to_edit
    assert doubt.startswith(f"{STARTER}: {told}")


def test_a_schema_that_was_cut_is_told() -> None:
    """Parts of it accept everything."""
    schemas = {
        f"S{n}": {"description": "x" * 1000, "properties": {"n": {"$ref": f"#/components/schemas/S{n + 1}"}}}
        for n in range(100)
    }
    schemas["S100"] = {"type": "null"}
    answer = {"type": "object", "properties": {"s": {"$ref": "#/components/schemas/S0"}}}
    document = api({"/a": {"get": {"responses": answers(answer)}}}, components={"schemas": schemas})
    (operation,) = read_operations(document)
    assert isinstance(operation, Operation)
    assert _built(operation, document).to_edit == (
        "skill.json: a schema was too large, parts of it accept everything",
    )
