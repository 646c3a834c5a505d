"""What a model is told of a skill and asked by a task: the same question whether it has the skill or not.

Everything that is quoted is escaped, so a text can neither end the element it stands in nor imitate another.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from skilleval.adapters.base import Call
from skilleval.domain.files import BundledFile, FileKind, TaskFile
from skilleval.domain.hashes import canonical_json
from skilleval.domain.skills import Skill
from skilleval.domain.trials import Mode

PROMPT_MARKER = "---USER PROMPT---"
"""Parts the files of a task from its prompt."""

_KEYS = frozenset({"prompt", "files", "params", "tools", "tool_choice"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A text for the model, and what of it had to be left out."""

    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a task asks: a prompt, and how it is to be answered."""

    prompt: str
    params: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[Mapping[str, Any], ...] = ()
    tool_choice: str | Mapping[str, Any] | None = None


def read_question(given: Mapping[str, Any]) -> Question:
    """Read the input of a task; an input that is more than a prompt of ours is asked as JSON, whole."""
    prompt = given.get("prompt")
    if not isinstance(prompt, str) or not given.keys() <= _KEYS:
        return Question(prompt=canonical_json(given))
    return Question(
        prompt=prompt,
        params=given.get("params") or {},
        tools=tuple(given.get("tools") or ()),
        tool_choice=given.get("tool_choice"),
    )


def has_skill(call: Call) -> bool:
    """Say whether the model is given the skill in this arm."""
    return call.mode is not Mode.WITHOUT_SKILL


def system_text(skill: Skill, *, max_bytes: int) -> Told:
    """Write a skill down as XML: its instructions, references in full, scripts by their first line, assets by name.

    Its evals are never in it: they hold the answers.
    """
    instructions = skill.instructions
    assert instructions is not None, "the adapter refuses skills without instructions"
    shown = [file for file in instructions.files if not file.path.startswith("evals/")]
    notes: list[str] = []
    lines = [
        f'<skill name="{_attribute(skill.name)}">',
        f"<description>{_escaped(skill.description)}</description>",
        f"<instructions>\n{_escaped(instructions.body)}\n</instructions>",
        *_group("reference", shown, max_bytes, notes),
        *_group("script", shown, max_bytes, notes),
        *_group("asset", shown, max_bytes, notes),
        "</skill>",
    ]
    return Told(text="\n".join(lines), notes=tuple(notes))


def user_text(prompt: str, files: tuple[TaskFile, ...], *, max_bytes: int) -> Told:
    """Write down what is asked: the files of the task, if any, and its prompt."""
    if not files:
        return Told(text=prompt)
    notes: list[str] = []
    parts = [
        _element("file", file.name, file.n_bytes, _shown(file.name, file.kind, file.text, max_bytes, notes))
        for file in files
    ]
    return Told(text="\n\n".join([*parts, PROMPT_MARKER, prompt]), notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is shown of a file."""

    kind: FileKind
    text: str | None


def _group(role: str, files: list[BundledFile], max_bytes: int, notes: list[str]) -> Iterator[str]:
    members = [file for file in files if file.role == role]
    if not members:
        return
    yield f"<{role}s>"
    for file in members:
        if role == "asset":
            shown = _Shown(file.kind, None)
        else:
            shown = _shown(file.path, file.kind, file.text, max_bytes, notes)
        yield _element(role, file.path, file.n_bytes, shown)
    yield f"</{role}s>"


def _shown(name: str, kind: FileKind, text: str | None, max_bytes: int, notes: list[str]) -> _Shown:
    """Cut a text that is too long, and note what is not shown whole."""
    if text is not None and len(text) * 4 > max_bytes:
        data = text.encode(errors="replace")
        if len(data) > max_bytes:
            kind, text = FileKind.CUT, data[:max_bytes].decode(errors="ignore")
    if kind is not FileKind.TEXT:
        notes.append(f"{kind.value}: {name}")
    return _Shown(kind, text)


def _element(tag: str, path: str, n_bytes: int, shown: _Shown) -> str:
    opened = f'<{tag} path="{_attribute(path)}" kind="{shown.kind.value}" bytes="{n_bytes}"'
    if shown.text is None:
        return f"{opened}/>"
    return f"{opened}>\n{_escaped(shown.text)}\n</{tag}>"


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)


def _attribute(text: str) -> str:
    return html.escape(text).replace("\n", "&#10;").replace("\r", "&#13;")
