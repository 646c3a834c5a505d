"""OpenAPI documents as tests need them, and a tea shop: a real server on this machine that has one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from skilleval.catalog.openapi.document import ApiDocument
from skilleval.catalog.openapi.operations import LeftOut, Operation, read_operations

PLAIN_ANSWER = {"type": "object", "required": ["done"], "properties": {"done": {"type": "boolean"}}}


def json_content(schema: Any, **more: Any) -> dict[str, Any]:
    """Give a content in JSON."""
    return {"application/json": {"schema": schema, **more}}


def answers(schema: Any = PLAIN_ANSWER, *, code: str = "200") -> dict[str, Any]:
    """Give the responses of an operation that has one good answer."""
    return {code: {"description": "good", "content": json_content(schema)}}


def api(paths: Any, *, version: str = "3.1.0", **more: Any) -> ApiDocument:
    """Give a document."""
    info = {"title": "Tea shop", "version": "2.1.0"}
    root = {"openapi": version, "info": info, "paths": paths, **more}
    return ApiDocument(where="shop.yaml", root=root, is_31=version.startswith("3.1"))


def one_operation(
    path: str = "/teas", method: str = "get", *, document: Any = None, **values: Any
) -> Operation:
    """Give the only operation of a document, which must be one that a skill can be made of."""
    (found,) = read_operations(_with(path, method, document, values))
    assert isinstance(found, Operation), found
    return found


def reason_left_out(path: str = "/teas", method: str = "get", *, document: Any = None, **values: Any) -> str:
    """Say why the only operation of a document is left out."""
    (found,) = read_operations(_with(path, method, document, values))
    assert isinstance(found, LeftOut), found
    assert found.label == f"{method.upper()} {path}"
    return found.reason


def _with(path: str, method: str, document: Any, values: dict[str, Any]) -> ApiDocument:
    return api({path: {method: {"responses": answers(), **values}}}, **(document or {}))


TEA = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string", "example": "sencha"},
        "blend": {"type": "array", "items": {"$ref": "#/components/schemas/Tea"}},
        "note": {"type": "string", "nullable": True},
    },
}


def shop_api(url: str, *, version: str = "3.0.3", is_open: bool = False) -> dict[str, Any]:
    """Give the document of the tea shop, which asks for a key unless it is open to all."""
    schema: dict[str, Any] = deepcopy(TEA)
    if version.startswith("3.1"):
        schema["properties"]["note"] = {"type": ["string", "null"]}
    tea = {"$ref": "#/components/schemas/Tea"}
    number = {"name": "teaId", "in": "path", "required": True, "schema": {"type": "integer"}, "example": 7}
    kinds = {
        "name": "kind",
        "in": "query",
        "required": True,
        "schema": {"type": "array", "items": {"type": "string"}, "example": ["green", "black"]},
    }
    steep = {"name": "X-Steep", "in": "header", "required": True, "schema": {"type": "string"}}
    created = {"201": {"description": "added", "content": json_content(tea)}}
    return {
        "openapi": version,
        "info": {"title": "Tea shop", "version": "2.1.0"},
        "servers": [{"url": f"{url}/v1"}],
        "security": [] if is_open else [{"key": []}],
        "paths": {
            "/teas": {
                "get": {
                    "operationId": "listTeas",
                    "summary": "List teas",
                    "tags": ["tea"],
                    "parameters": [kinds],
                    "responses": answers({"type": "array", "items": tea}),
                },
                "post": {
                    "operationId": "addTea",
                    "requestBody": {"required": True, "content": json_content(tea)},
                    "responses": created,
                },
            },
            "/teas/{teaId}": {
                "parameters": [number],
                "put": {"parameters": [steep], "responses": answers(tea)},
                "delete": {"responses": {"204": {"description": "gone"}}},
            },
        },
        "components": {
            "schemas": {"Tea": schema},
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Tea-Key"}},
        },
    }


@dataclass
class Shop:
    """The running shop. It keeps to its document until it `lies`; with a `key` it answers only who knows it."""

    url: str = ""
    key: str | None = None
    lies: bool = False
    asked: list[str] = field(default_factory=list)

    def answer(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, Any]:
        """Answer as the document says, or with what breaks its schemas; who is not as expected gets an error."""
        self.asked.append(f"{method} {path}")
        parts = urlsplit(path)
        tea = {"id": "seven" if self.lies else 7, "name": "assam", "note": None}
        if self.key is not None and headers.get("X-Tea-Key") != self.key:
            return 401, {"error": "who are you?"}
        if method == "GET" and parts.path == "/v1/teas":
            named = [{**tea, "name": kind} for kind in parse_qs(parts.query)["kind"]]
            return 200, [*named, {**tea, "blend": named}]
        if method == "POST" and parts.path == "/v1/teas":
            given = json.loads(body)
            return (400, {"error": "the shop gives the id"}) if "id" in given else (201, {**tea, **given})
        if method == "PUT" and parts.path == "/v1/teas/7" and headers.get("X-Steep"):
            return 200, tea
        return 404, {"error": "no such thing"}


def _handler(shop: Shop) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, value = shop.answer(self.command, self.path, self.headers, body)
            said = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return type("Handler", (Answering,), {f"do_{name}": Answering.answer for name in ("GET", "POST", "PUT")})


@contextmanager
def open_shop() -> Iterator[Shop]:
    """Run the shop."""
    shop = Shop()
    real = ThreadingHTTPServer(("127.0.0.1", 0), _handler(shop))
    shop.url = f"http://127.0.0.1:{real.server_address[1]}"
    thread = threading.Thread(target=real.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield shop
    finally:
        real.shutdown()
        thread.join()
        real.server_close()


def write_api(path: Path, value: Any) -> Path:
    """Write a document as JSON."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path
