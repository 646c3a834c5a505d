"""Small things one does with a text: answers one JSON-RPC 2.0 request on stdin with one reply on stdout.

`invoke` takes `{"operation": "slug", "text": "..."}` and replies `{"result": ...}`.
"""

from __future__ import annotations

import json
import sys
import unicodedata

SMALL_WORDS = frozenset(
    {"a", "an", "and", "as", "at", "but", "by", "for", "in", "of", "on", "or", "the", "to"}
)


def word_count(text: str) -> int:
    """Count what is separated by white space."""
    return len(text.split())


def slug(text: str) -> str:
    """Write a text so that it fits into an address: plain letters and digits, joined by hyphens."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore").decode().lower()
    words = "".join(letter if letter.isalnum() else " " for letter in plain.replace("'", ""))
    return "-".join(words.split())


def title_case(text: str) -> str:
    """Write a title: every word large, small words only at the ends."""
    words = text.split()
    last = len(words) - 1
    return " ".join(
        word.lower() if 0 < place < last and word.lower() in SMALL_WORDS else word[:1].upper() + word[1:]
        for place, word in enumerate(words)
    )


def initials(text: str) -> str:
    """Give the first letter of each word."""
    return "".join(word[0].upper() for word in text.split())


def longest_word(text: str) -> str:
    """Give the longest word without its punctuation; the first of several."""
    words = ["".join(letter for letter in word if letter.isalnum()) for word in text.split()]
    return max(words, key=len, default="")


def reverse(text: str) -> str:
    """Write a text backwards."""
    return text[::-1]


def is_palindrome(text: str) -> bool:
    """Does the text read the same backwards? Case, spaces and punctuation do not count."""
    letters = [letter for letter in text.casefold() if letter.isalnum()]
    return letters == letters[::-1]


OPERATIONS = {
    "word_count": word_count,
    "slug": slug,
    "title_case": title_case,
    "initials": initials,
    "longest_word": longest_word,
    "reverse": reverse,
    "is_palindrome": is_palindrome,
}


def answer(request: dict[str, object]) -> dict[str, object]:
    """Give the members of the reply: a result or an error."""
    if request.get("method") == "healthcheck":
        return {"result": {"status": "ok"}}
    params = request.get("params")
    given = params if isinstance(params, dict) else {}
    work, text = OPERATIONS.get(str(given.get("operation"))), given.get("text")
    if work is None or not isinstance(text, str):
        return {
            "error": {"code": -32602, "message": f"give a text and an operation of {', '.join(OPERATIONS)}"}
        }
    return {"result": {"result": work(text)}}


def main() -> None:
    """Read one request from stdin to its end and write one reply."""
    request = json.loads(sys.stdin.buffer.read())
    print(json.dumps({"jsonrpc": "2.0", "id": request.get("id"), **answer(request)}))


if __name__ == "__main__":
    main()
