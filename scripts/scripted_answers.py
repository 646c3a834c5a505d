"""What the scripted model says: the first rule that fits a request decides."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripted_request import Asked

UNKNOWN = "I do not know."
_KEYS = {"when", "with_system", "without_system", "judge", "reply", "replies", "tool_calls"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A text, and the tools to call with their arguments as text."""

    text: str
    tool_calls: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """When it fits, and the replies among which the seed of the request chooses.

    `when` is searched in the text of the user, `with_system` in that of the system; `without_system` fits only where
    there is none. A rule with `judge` is for requests to judge by a rubric, any other for all the rest.
    """

    when: re.Pattern[str]
    with_system: re.Pattern[str] | None
    without_system: bool
    judge: bool
    replies: tuple[str, ...]
    tool_calls: tuple[tuple[str, str], ...]

    def fits(self, asked: Asked, *, judge: bool) -> bool:
        """Say whether the rule decides about a request."""
        if self.judge != judge or (self.without_system and asked.system) or not self.when.search(asked.user):
            return False
        return self.with_system is None or self.with_system.search(asked.system) is not None

    def answer(self, asked: Asked) -> Answer:
        """Give the reply that the seed chooses; calls only of tools that the request offers."""
        drawn = int(hashlib.sha256(str(asked.seed).encode()).hexdigest(), 16) % len(self.replies)
        offered = tuple(call for call in self.tool_calls if call[0] in asked.tool_names)
        return Answer(text=self.replies[drawn], tool_calls=offered)


def read_rules(path: Path) -> tuple[Rule, ...]:
    """Read a JSON file with a list of rules.

    Raises:
        ValueError: A rule has a wrong key, no reply, or a pattern that is none.
    """
    entries = json.loads(path.read_text(encoding="utf-8"))
    return tuple(_rule(entry, f"{path}: rule {number}") for number, entry in enumerate(entries, start=1))


def _rule(entry: Mapping[str, Any], where: str) -> Rule:
    if wrong := entry.keys() - _KEYS:
        raise ValueError(f"{where}: unknown {', '.join(sorted(wrong))}; known: {', '.join(sorted(_KEYS))}")
    calls = tuple(
        (call["name"], _argument_text(call.get("arguments", {}))) for call in entry.get("tool_calls", ())
    )
    replies = entry.get("replies") or ([entry["reply"]] if "reply" in entry else [""] if calls else [])
    if not replies:
        raise ValueError(f"{where}: no reply, replies or tool_calls")
    system = entry.get("with_system")
    try:
        return Rule(
            when=re.compile(entry["when"], re.IGNORECASE | re.DOTALL),
            with_system=None if system is None else re.compile(system, re.IGNORECASE | re.DOTALL),
            without_system=bool(entry.get("without_system", False)),
            judge=bool(entry.get("judge", False)),
            replies=tuple(replies),
            tool_calls=calls,
        )
    except (KeyError, re.error) as error:
        raise ValueError(f"{where}: {error!r}") from error


def _argument_text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def answer_of(rules: Sequence[Rule], asked: Asked, *, judge: bool = False) -> Answer | None:
    """Give the answer of the first rule that fits; null where none does."""
    return next((rule.answer(asked) for rule in rules if rule.fits(asked, judge=judge)), None)
