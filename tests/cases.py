"""The public fault cases, by id: each is a small input with the behaviour that is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parent / "data" / "cases.jsonl"


def case_input(case_id: str) -> dict[str, Any]:
    """Give the `input` of a case."""
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["id"] == case_id:
            found: dict[str, Any] = case["input"]
            return found
    raise KeyError(case_id)
