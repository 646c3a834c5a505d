"""Judges which APIs a skill chose for a ToolBench query.

The answer is a list of pairs `[tool, API]` or of objects with `tool_name` and `api_name`. The score is the F1 of chosen
and relevant APIs; passed is only the very same choice.
"""

from __future__ import annotations

ANSWER_KEYS = ("result", "output", "answer")


def chosen(output: object) -> set[tuple[str, str]] | None:
    """Give the APIs that an output names; null where it is no list of APIs."""
    if isinstance(output, dict):
        output = next((output[key] for key in ANSWER_KEYS if key in output), output)
    if not isinstance(output, list):
        return None
    pairs = [pair_of(one) for one in output]
    return None if None in pairs else {pair for pair in pairs if pair is not None}


def pair_of(one: object) -> tuple[str, str] | None:
    """Read one chosen API."""
    match one:
        case [str(tool), str(api)] | {"tool_name": str(tool), "api_name": str(api)}:
            return tool.strip().lower(), api.strip().lower()
    return None


def score(output: object, expected: dict[str, list[list[str]]], _input: object) -> dict[str, object]:
    """Compare the choice with the relevant APIs."""
    found = chosen(output)
    if found is None:
        return {"passed": False, "score": 0.0, "reason": "the answer is no list of [tool, API]"}
    wanted = {(tool.strip().lower(), api.strip().lower()) for tool, api in expected["value"]}
    hits = len(found & wanted)
    reason = f"{hits} of {len(wanted)} relevant APIs chosen, {len(found - wanted)} others"
    f1 = 2 * hits / (len(found) + len(wanted))
    return {"passed": found == wanted, "score": f1, "reason": reason}
