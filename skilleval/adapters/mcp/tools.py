"""Which tool of a server a skill means."""

from __future__ import annotations

from collections.abc import Sequence

from skilleval.adapters.http_reply import Failure
from skilleval.domain.attempts import Status
from skilleval.domain.skills import Skill

_SHOWN = 20


def chosen_tool(skill: Skill, listed: Sequence[str]) -> str | Failure:
    """Give the tool that `metadata.toolName` names, else the only one, else the one that is called like the skill."""
    named = skill.metadata.get("toolName")
    if named is not None:
        return str(named) if named in listed else _unknown(f"there is no tool {named}", listed)
    if len(listed) == 1:
        return listed[0]
    if skill.id in listed:
        return skill.id
    return _unknown("name the tool with metadata.toolName in skill.json", listed)


def _unknown(what: str, listed: Sequence[str]) -> Failure:
    offered = ", ".join(listed[:_SHOWN]) + (", …" if len(listed) > _SHOWN else "")
    message = f"{what}: the server offers {offered or 'no tools'}"
    return Failure(kind="unknown_tool", message=message, status=Status.UNSUPPORTED, retryable=False)
