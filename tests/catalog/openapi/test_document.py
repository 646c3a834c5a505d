from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from apis import answers, api
from openapi_pydantic.v3.v3_1 import Info, Parameter

from skilleval.catalog.openapi.document import Node, UnusableOperationError, read_api
from skilleval.errors import CatalogError

LEAST = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {}}


def _problem_of(path: Path) -> tuple[str, str, str, str]:
    with pytest.raises(CatalogError) as caught:
        read_api(path)
    (problem,) = caught.value.problems
    assert problem.where == str(path)
    return problem.key, problem.expected, problem.found, problem.hint


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps(LEAST)),
        ("a.yaml", "openapi: 3.0.3\ninfo: {title: t, version: '1'}\npaths: {}\n"),
        ("a.yml", json.dumps(LEAST)),
        ("openapi", f"\n  {json.dumps(LEAST)}"),
        ("openapi", "openapi: 3.0.3\ninfo: {title: t, version: '1'}\npaths: {}\n"),
    ],
)
def test_json_and_yaml_are_told_apart(tmp_path: Path, name: str, text: str) -> None:
    """By the suffix, and without one by how the text begins."""
    (tmp_path / name).write_text(text)
    document = read_api(tmp_path / name)
    assert (document.root, document.is_31) == (LEAST, False)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"openapi": None, "swagger": "2.0"},
            ("openapi", '"3.0.x" or "3.1.x"', 'swagger "2.0"', "convert it to OpenAPI 3 first"),
        ),
        ({"openapi": "3.2.0"}, ("openapi", '"3.0.x" or "3.1.x"', '"3.2.0"', "")),
        ({"openapi": 3.1}, ("openapi", '"3.0.x" or "3.1.x"', "3.1", "")),
        ({"openapi": None}, ("openapi", '"3.0.x" or "3.1.x"', "nothing", "")),
    ],
)
def test_other_versions_are_refused(tmp_path: Path, change: Any, expected: tuple[str, ...]) -> None:
    """What is not 3.0 or 3.1 is named."""
    value = {name: item for name, item in {**LEAST, **change}.items() if item is not None}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value))
    assert _problem_of(path) == expected


def test_what_is_no_document_at_all_is_refused_with_its_place(tmp_path: Path) -> None:
    """A list, broken JSON, a file that is not there."""
    (tmp_path / "a.json").write_text("[]")
    assert _problem_of(tmp_path / "a.json")[1:3] == ("an OpenAPI document: an object", "[]")
    (tmp_path / "b.json").write_text('{"openapi": }')
    assert _problem_of(tmp_path / "b.json")[0] == "line 1, column 13"
    assert _problem_of(tmp_path / "none.json")[1] == "a file that can be read"


def test_references_are_followed_to_the_end() -> None:
    """Through other references, escaped keys and lists, to the value and its place."""
    document = api(
        {"/a~b/{c d}": {"parameters": [{"name": "x"}]}},
        components={"parameters": {"one": {"$ref": "#/paths/~1a~0b~1%7Bc%20d%7D/parameters/0"}}},
    )
    found = document.followed(Node({"$ref": "#/components/parameters/one"}, ("here",)))
    assert found == Node({"name": "x"}, ("paths", "/a~b/{c d}", "parameters", 0))


@pytest.mark.parametrize("reference", ["other.yaml#/Pet", "https://example.com/a.json", "#anchor", "#"])
def test_a_reference_out_of_the_document_is_not_followed(reference: str) -> None:
    """Nothing is fetched and no other file is read: the operation is left out."""
    with pytest.raises(UnusableOperationError, match="only pointers in this document are followed"):
        api({}).followed(Node({"$ref": reference}, ()))


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("#/components/nothing", "which is not in this document"),
        ("#/paths/x/0", "which is not in this document"),
        ("#/loop", "which leads back to itself"),
    ],
)
def test_a_reference_to_nothing_leaves_the_operation_out(reference: str, why: str) -> None:
    """The others do not need it. It is said where the reference stands."""
    with pytest.raises(UnusableOperationError) as caught:
        api({}, loop={"$ref": "#/loop"}).followed(Node({"$ref": reference}, ("paths", "/a", "get")))
    assert str(caught.value) == f'it refers to {reference}, {why} (paths["/a"].get.$ref)'


def test_a_reference_that_is_no_text_is_an_error_of_the_document() -> None:
    """Nobody can tell what was meant."""
    with pytest.raises(CatalogError) as caught:
        api({}).followed(Node({"$ref": 3}, ("paths", "/a", "get")))
    (problem,) = caught.value.problems
    assert (problem.key, problem.expected) == ('paths["/a"].get.$ref', "a reference, as text")


@pytest.mark.parametrize(
    ("value", "key", "expected", "found"),
    [
        ({"in": "query"}, "x[0].name", "a value", "nothing"),
        ({"name": 3, "in": "query"}, "x[0].name", "a text", "3"),
        ({"name": "a", "in": "body"}, "x[0].in", "'query', 'header', 'path' or 'cookie'", '"body"'),
        ({"name": "a", "in": "query", "examples": {"one": 3}}, "x[0].examples.one", "", ""),
        ([], "x[0]", "an object", "[]"),
    ],
)
def test_a_part_that_does_not_fit_is_told_with_its_place(
    value: Any, key: str, expected: str, found: str
) -> None:
    """The first place that is wrong, what was expected there and what stands there."""
    with pytest.raises(CatalogError) as caught:
        api({}).read(Parameter, Node(value, ("x", 0)))
    (problem,) = caught.value.problems
    assert problem.key == key
    if expected:
        assert (problem.expected, problem.found) == (expected, found)


def test_what_is_not_needed_of_a_part_is_not_judged() -> None:
    """A part is read without the keys that are read otherwise, or never."""
    node = Node({"title": "t", "version": "1", "contact": 3}, ("info",))
    assert api({}).read(Info, node, without=("contact",)).title == "t"
    with pytest.raises(CatalogError, match="contact"):
        api({}).read(Info, node)


def test_lists_and_objects_are_not_taken_for_each_other() -> None:
    """Where an object belongs a list is an error, and the other way round; where there is nothing, nothing is held."""
    document = api({"/a": {"get": {"responses": answers()}}})
    assert [node.place for node in document.members(document.node("paths"))] == [("paths", "/a")]
    assert not [*document.members(document.node("x")), *document.items(document.node("x", "y"))]
    with pytest.raises(CatalogError, match=r"expected a list, found \{\"/a\""):
        list(document.items(document.node("paths")))
    with pytest.raises(CatalogError, match=r"expected an object, found \[\]"):
        list(document.members(Node([], ("x",))))
