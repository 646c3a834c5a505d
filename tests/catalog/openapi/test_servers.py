from __future__ import annotations

from typing import Any

import pytest
from apis import api

from skilleval.catalog.openapi.document import UnusableOperationError
from skilleval.catalog.openapi.servers import is_address, server_address
from skilleval.errors import CatalogError


def _address(*servers: Any) -> str:
    document = api({}, servers=list(servers))
    return server_address(document, document.node())


@pytest.mark.parametrize(
    ("servers", "address"),
    [
        ([], ""),
        ([{"url": "/"}], ""),
        ([{"url": "v1"}], "/v1"),
        ([{"url": "https://a.example/v1/"}, {"url": "https://b.example"}], "https://a.example/v1"),
        (
            [{"url": "http://{host}:{port}/{base}", "variables": {
                "host": {"default": "127.0.0.1"}, "port": {"default": "80"}, "base": {"default": ""}}}],
            "http://127.0.0.1:80",
        ),
    ],
)  # fmt: skip
def test_the_first_server_is_asked_with_its_defaults(servers: list[Any], address: str) -> None:
    """Variables have their default; without a host only the path is known."""
    assert _address(*servers) == address


def test_the_nearest_owner_of_servers_counts() -> None:
    """Those of an operation win over those of its path, and these over those of the document."""
    document = api({"/a": {"servers": [{"url": "/path"}], "get": {"servers": []}}}, servers=[{"url": "/all"}])
    path = document.node("paths", "/a")
    assert server_address(document, path.child("get"), path, document.node()) == "/path"


@pytest.mark.parametrize(
    ("server", "key"),
    [
        ({"url": "http://{host}/"}, "servers[0].variables.host"),
        ({"url": 3}, "servers[0].url"),
        ({}, "servers[0].url"),
        ({"url": "http://me:sesame@a.example/"}, "servers[0].url"),
    ],
)
def test_a_malformed_server_is_told_with_its_place_and_no_password(server: Any, key: str) -> None:
    """A password in an address is refused, for addresses are shown."""
    with pytest.raises(CatalogError) as caught:
        _address(server)
    assert caught.value.problems[0].key == key
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize("url", ["wss://a.example/", "http://a b/", "http://[::1/"])
def test_what_is_no_http_address_makes_no_skill(url: str) -> None:
    """Other protocols and broken addresses cannot be asked."""
    with pytest.raises(UnusableOperationError, match="is no HTTP address"):
        _address({"url": url})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://127.0.0.1:8000", True),
        ("https://[::1]/v1", True),
        ("ftp://a.example", False),
        ("http://me@a.example", False),
        ("http:///v1", False),
        ("http://{host}/", False),
        ("http://[::1", False),
        ("a.example", False),
    ],
)
def test_an_address_has_a_host_and_no_name(text: str, expected: bool) -> None:
    """What a skill's file would not take is none."""
    assert is_address(text) is expected
