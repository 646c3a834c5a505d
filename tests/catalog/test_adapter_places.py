from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.adapter_config import ADAPTER_CONFIG, AdapterConfig, read_adapter_config
from skilleval.catalog.adapter_places import is_free_header
from skilleval.errors import CatalogError


def _read(folder: Path, parameters: Any, entrypoint: str = "/teas/{id}", **more: Any) -> AdapterConfig:
    written = {"parameters": parameters, **more}
    (folder / ADAPTER_CONFIG).write_text(json.dumps(written), encoding="utf-8")
    return read_adapter_config(folder, {"adapterType": "http", "entrypoint": entrypoint})


ID = {"id": {"in": "path"}}


def test_places_are_handed_on_as_they_are(tmp_path: Path) -> None:
    """Names of members are no keys that are spelled another way."""
    parameters = {
        **ID,
        "aB[]": {"in": "query", "name": "a[]", "style": "pipeDelimited", "explode": True},
        "X-A": {"in": "header", "style": "json"},
        "body": {"in": "body"},
    }
    assert _read(tmp_path, parameters).options == {"parameters": parameters}
    assert _read(tmp_path, {}, "/teas").options == {"parameters": {}}
    served = {"command": ["python3", "s.py"], "ready": "tcp"}
    assert _read(tmp_path, ID, serve=served).options["parameters"] == ID


@pytest.mark.parametrize(
    ("parameters", "entrypoint", "key", "expected"),
    [
        ({"id": {}}, "/{id}", "parameters.id.in", "path, query, header or body"),
        ({"id": {"in": "cookie"}}, "/{id}", "parameters.id.in", "path, query, header or body"),
        ({"id": {"in": "path", "wide": 1}}, "/{id}", "parameters.id.wide", "a known key"),
        ({"a{b": {"in": "query"}}, "/", "parameters", "a name without { and }"),
        (ID, "/teas", "parameters.id", "{id} in the entrypoint"),
        (ID, "/teas?x={id}", "parameters.id", "{id} in the entrypoint"),
        ({}, "/teas/{id}", "parameters.id", "a parameter in: path for each placeholder of the entrypoint"),
        ({}, "http://a.example/", "entrypoint", "a path that begins with /, beside parameters"),
        ({"port": {"in": "path"}}, "/{port}", "parameters.port", "another name"),
        ({"id": {"in": "path", "name": "x"}}, "/{id}", "parameters.id.name", "no name in the path"),
        ({"a": {"in": "path", "style": "form"}}, "/{a}", "parameters.a.style", "simple or json, in: path"),
        ({"a": {"in": "header", "style": "form"}}, "/", "parameters.a.style", "simple or json, in: header"),
        (
            {"a": {"in": "query", "style": "json", "explode": True}},
            "/",
            "parameters.a.explode",
            "none with style json",
        ),
        ({"a": {"in": "body", "name": "b"}}, "/", "parameters.a.name", "in alone, for the body"),
        ({"a": {"in": "body"}, "b": {"in": "body"}}, "/", "parameters.b", "one body"),
        ({"a": {"in": "header", "name": "Cookie"}}, "/", "parameters.a.name", "no credentials"),
        ({"Host": {"in": "header"}}, "/", "parameters.Host.name", "a header of your own"),
        ({"Content-Type": {"in": "header"}}, "/", "parameters.Content-Type.name", "a header of your own"),
        ({"a b": {"in": "header"}}, "/", 'parameters["a b"].name', "a header of your own"),
    ],
)
def test_es06_a_place_without_effect_is_refused(
    tmp_path: Path, parameters: Any, entrypoint: str, key: str, expected: str
) -> None:
    """Each mistake with its key and what would be right."""
    with pytest.raises(CatalogError) as caught:
        _read(tmp_path, parameters, entrypoint)
    (problem,) = caught.value.problems
    assert (problem.key, problem.expected) == (key, expected)


def test_only_http_skills_have_places(tmp_path: Path) -> None:
    """Elsewhere the key would be without effect."""
    (tmp_path / ADAPTER_CONFIG).write_text('{"parameters": {}}', encoding="utf-8")
    with pytest.raises(CatalogError, match="only skills of adapterType http have it"):
        read_adapter_config(tmp_path, {"adapterType": "subprocess", "entrypoint": "python3 a.py"})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("X-Tea", True),
        ("Accept", True),
        ("x-api-key", False),
        ("HOST", False),
        ("X-Skilleval-Seed", False),
        ("a:", False),
    ],
)
def test_a_header_is_free_unless_it_is_ours_or_a_secret(name: str, expected: bool) -> None:
    """Whatever its case."""
    assert is_free_header(name) is expected
