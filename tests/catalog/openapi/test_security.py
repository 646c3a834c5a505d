from __future__ import annotations

from typing import Any

import pytest
from apis import api

from skilleval.catalog.openapi.document import UnusableOperationError
from skilleval.catalog.openapi.security import Auth, operation_auth
from skilleval.errors import CatalogError

SCHEMES = {
    "login": {"type": "http", "scheme": "Bearer"},
    "basic": {"type": "http", "scheme": "basic"},
    "x-key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "own key": {"type": "apiKey", "in": "header", "name": "X-Tea"},
    "raw": {"$ref": "#/components/securitySchemes/auth header"},
    "auth header": {"type": "apiKey", "in": "header", "name": "Authorization"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "s"},
    "query": {"type": "apiKey", "in": "query", "name": "k"},
    "odd": {"type": "apiKey", "in": "header", "name": "Host"},
    "oauth": {"type": "oauth2", "flows": {}},
    "oidc": {"type": "openIdConnect", "openIdConnectUrl": "/x"},
    "tls": {"type": "mutualTLS"},
    "wrong": {"type": 3},
}


def _auth(security: Any, *, own: Any = None) -> Auth | None:
    operation = {} if own is None else {"security": own}
    document = api({"/a": {"get": operation}}, security=security, components={"securitySchemes": SCHEMES})
    return operation_auth(document, document.node("paths", "/a", "get"))


@pytest.mark.parametrize(
    ("name", "auth"),
    [
        ("login", Auth(kind="bearer", variable="SKILLEVAL_TEA_SHOP_LOGIN")),
        ("oauth", Auth(kind="bearer", variable="SKILLEVAL_TEA_SHOP_OAUTH")),
        ("oidc", Auth(kind="bearer", variable="SKILLEVAL_TEA_SHOP_OIDC")),
        ("x-key", Auth(kind="api_key", variable="SKILLEVAL_TEA_SHOP_X_KEY")),
        ("own key", Auth(kind="header", variable="SKILLEVAL_TEA_SHOP_OWN_KEY", header="X-Tea")),
        ("raw", Auth(kind="header", variable="SKILLEVAL_TEA_SHOP_RAW", header="Authorization")),
    ],
)
def test_a_scheme_becomes_a_header_and_the_name_of_a_variable(name: str, auth: Auth) -> None:
    """The variable has the names of API and scheme, so that no API is sent the token of another one."""
    assert _auth([{name: []}]) == auth


@pytest.mark.parametrize(
    ("security", "own", "expected"),
    [
        (None, None, None),
        ([], None, None),
        ([{"login": []}], [], None),
        ([{"login": []}], [{}], None),
        ([{"login": []}], [{"x-key": []}], "api_key"),
        ([{"basic": []}, {"login": []}, {}], None, "bearer"),
        ([{"login": [], "x-key": []}, {}], None, None),
    ],
)
def test_the_first_way_in_that_works_is_taken(security: Any, own: Any, expected: str | None) -> None:
    """Those of the operation replace those of the document; an empty one lets anybody in."""
    auth = _auth(security, own=own)
    assert (auth.kind if auth else None) == expected


@pytest.mark.parametrize(
    ("security", "reason"),
    [
        ([{"basic": []}, {"cookie": []}], "HTTP authentication of the kind basic, or a key in the cookie"),
        ([{"query": []}], "a key in the query"),
        ([{"odd": []}], 'a key in the header "Host"'),
        ([{"tls": []}], "mutualTLS"),
        ([{"login": [], "x-key": []}], "login and x-key at once"),
    ],
)
def test_without_a_way_in_the_operation_is_left_out(security: Any, reason: str) -> None:
    """It is said what it asks for."""
    with pytest.raises(UnusableOperationError) as caught:
        _auth(security)
    assert str(caught.value) == f"it asks for {reason}"


@pytest.mark.parametrize(
    ("security", "key"),
    [
        ([{"none": []}], "components.securitySchemes.none"),
        ([{"wrong": []}], "components.securitySchemes.wrong.type"),
        ({"login": []}, "security"),
        (["login"], "security[0]"),
    ],
)
def test_malformed_security_is_told_with_its_place(security: Any, key: str) -> None:
    """Nobody guesses who may come in."""
    with pytest.raises(CatalogError) as caught:
        _auth(security)
    assert caught.value.problems[0].key == key


def test_the_keys_of_a_skill_hold_only_names() -> None:
    """What goes into the file of a skill."""
    auth = Auth(kind="header", variable="SKILLEVAL_A", header="X-Tea")
    assert auth.options() == {"authType": "header", "authTokenEnvKey": "SKILLEVAL_A", "authHeader": "X-Tea"}
    assert Auth(kind="bearer", variable="V").options() == {"authType": "bearer", "authTokenEnvKey": "V"}
