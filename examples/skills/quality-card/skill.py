"""A skill that describes itself: one JSON-RPC 2.0 request on stdin, one reply on stdout.

`invoke` takes `{"describe": "identity" | "purpose" | "tags" | "interface" | "example"}` and answers from the manifest
beside this file. Copied into another skill, it describes that one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
MANIFEST = Path(__file__).with_name("skill.json")


class RpcError(Exception):
    """A reply that is an error: its JSON-RPC code and what is wrong."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def card() -> dict[str, object]:
    """Read what the manifest says, by aspect."""
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    return {
        "identity": {key: manifest[key] for key in ("id", "name", "version")},
        "purpose": manifest["description"],
        "tags": manifest["tags"],
        "interface": {key: manifest[key] for key in ("inputSchema", "outputSchema")},
        "example": manifest["metadata"]["example"],
    }


def answer(request: object) -> dict[str, object]:
    """Give the result of a request."""
    if not isinstance(request, dict):
        raise RpcError(INVALID_REQUEST, "a request is an object")
    method, params = request.get("method"), request.get("params")
    if method == "healthcheck":
        return {"status": "ok"}
    if method != "invoke":
        raise RpcError(METHOD_NOT_FOUND, f"there is no method {method}")
    aspects = card()
    aspect = params.get("describe") if isinstance(params, dict) else None
    if not isinstance(aspect, str) or aspect not in aspects:
        raise RpcError(INVALID_PARAMS, f"describe is one of {', '.join(aspects)}")
    return {"result": aspects[aspect]}


def main() -> None:
    """Read one request from stdin to its end and write one reply."""
    request: object = None
    reply: dict[str, object] = {}
    try:
        request = json.loads(sys.stdin.buffer.read())
        reply["result"] = answer(request)
    except RpcError as error:
        reply["error"] = {"code": error.code, "message": str(error)}
    except (ValueError, RecursionError):
        reply["error"] = {"code": PARSE_ERROR, "message": "the request is not JSON"}
    request_id = request.get("id") if isinstance(request, dict) else None
    print(json.dumps({"jsonrpc": "2.0", "id": request_id, **reply}))


if __name__ == "__main__":
    main()
