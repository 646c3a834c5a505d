"""How much of a text is stored. Cuts are made last: what was cut off could no longer be recognised as a secret."""

from __future__ import annotations

from typing import Any

_END_BYTES = {"stdout": 4096, "stderr": 4096}
_CHARACTERS = {"message": 500, "reason": 2000, "evidence": 4096, "reply": 65_536}
_CUT = "…"


def shorten(row: dict[str, Any]) -> None:
    """Cut the texts of a row in place: what was printed to its end, everything else to its beginning."""
    for name, limit in _END_BYTES.items():
        if row.get(name):
            row[name] = _end(row[name], limit)
    for name, limit in _CHARACTERS.items():
        text = row.get(name)
        if text and len(text) > limit:
            row[name] = f"{text[: limit - 1]}{_CUT}"


def _end(text: str, limit: int) -> str:
    """Give the end of a text in whole characters; one that was cut before says so already."""
    data = text.removeprefix(_CUT).encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    return _CUT + data[-limit:].decode("utf-8", "ignore")
