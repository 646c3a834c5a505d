"""A search over a small built-in index: one JSON-RPC 2.0 request on stdin, one reply on stdout. No network is used.

`invoke` takes `{"query": "capital of Australia"}` and replies `{"result": {"answer": "...", "results": [...]}}`: the
text of the best note, and up to three notes with title, address and text.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from pathlib import Path

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOTES = Path(__file__).with_name("notes.json")
ADDRESS = "https://notes.example/"
MOST_RESULTS = 3
WORD = re.compile(r"\w+")


class RpcError(Exception):
    """A reply that is an error: its JSON-RPC code and what is wrong."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def words(text: str) -> list[str]:
    """Split a text into lower-case words; a plural s does not count."""
    return [word.removesuffix("s") for word in WORD.findall(text.lower())]


def ranked(query: str, notes: list[dict[str, str]]) -> list[dict[str, str]]:
    """Give the notes that share words with the query, the best one first: rare words weigh more."""
    counts = [Counter(words(f"{note['title']} {note['text']}")) for note in notes]
    spread = Counter(word for count in counts for word in count)
    scores = [
        sum(math.log(len(notes) / spread[word]) for word in set(words(query)) if word in count)
        / math.sqrt(count.total())
        for count in counts
    ]
    order = sorted(range(len(notes)), key=lambda index: -scores[index])
    return [notes[index] for index in order if scores[index] > 0]


def search(query: str) -> dict[str, object]:
    """Answer a query from the notes."""
    best = ranked(query, json.loads(NOTES.read_text(encoding="utf-8")))[:MOST_RESULTS]
    results = [
        {"title": note["title"], "url": ADDRESS + note["slug"], "snippet": note["text"]} for note in best
    ]
    return {"answer": best[0]["text"] if best else "", "results": results}


def answer(request: object) -> dict[str, object]:
    """Give the result of a request."""
    if not isinstance(request, dict):
        raise RpcError(INVALID_REQUEST, "a request is an object")
    method, params = request.get("method"), request.get("params")
    if method == "healthcheck":
        return {"status": "ok"}
    if method != "invoke":
        raise RpcError(METHOD_NOT_FOUND, f"there is no method {method}")
    query = params.get("query") if isinstance(params, dict) else None
    if not isinstance(query, str) or not query.strip():
        raise RpcError(INVALID_PARAMS, "give a query, as text")
    return {"result": search(query)}


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
