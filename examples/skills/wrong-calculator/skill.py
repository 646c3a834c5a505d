"""A calculator that always answers and is always wrong.

Every sum is -1, no text is reversed, and each palindrome is denied while everything else is taken for one.
"""

from __future__ import annotations

import json
import sys


def wrong_answer(params: dict[str, str]) -> int | str | bool:
    """Give an answer of the right type that is not the right one."""
    text = params.get("text")
    if text is None:
        return -1
    if params.get("operation") == "reverse":
        return f"{text}."
    letters = [character for character in text.casefold() if character.isalnum()]
    return letters != letters[::-1]


def main() -> None:
    """Answer one JSON-RPC request."""
    request = json.loads(sys.stdin.buffer.read())
    is_healthcheck = request["method"] == "healthcheck"
    result = {"status": "ok"} if is_healthcheck else {"result": wrong_answer(request["params"])}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))


if __name__ == "__main__":
    main()
