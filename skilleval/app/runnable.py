"""Which skills have here what they are started with: on this machine, or in the image that they run in."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from dataclasses import replace

from skilleval.adapters.interpreter import python_of
from skilleval.app.parts import adapter_kind
from skilleval.catalog.read import Catalog
from skilleval.config.settings import Settings
from skilleval.domain.skills import Skill
from skilleval.sandboxes.base import Sandbox
from skilleval.sandboxes.docker import DockerSandbox

_BY_COMMAND_LINE = frozenset({"subprocess", "mcp"})
_BY_FUNCTION = frozenset({"python", "langchain"})


def runnable(catalog: Catalog, settings: Settings, sandbox: Sandbox) -> tuple[Catalog, list[str]]:
    """Leave out skills whose program is not there, where that is asked for, and name them."""
    if not settings.skill_set.only_runnable:
        return catalog, []
    needs = [
        (skill, missing_program(skill, adapter_kind(settings.adapter, skill), sandbox))
        for skill in catalog.skills
    ]
    place = f"in the image {sandbox.options.image}" if isinstance(sandbox, DockerSandbox) else "on the PATH"
    absent = [f"{skill.id} left out: {word} is not {place}" for skill, word in needs if word is not None]
    skills = tuple(skill for skill, word in needs if word is None)
    return replace(catalog, skills=skills), absent


def missing_program(skill: Skill, kind: str, sandbox: Sandbox) -> str | None:
    """Give the program that a skill needs, driven so, and its sandbox lacks; null where all is there."""
    return next((word for word in _needed(skill, kind, sandbox) if _is_missing(word, skill, sandbox)), None)


def _needed(skill: Skill, kind: str, sandbox: Sandbox) -> Iterator[str]:
    if kind in _BY_COMMAND_LINE and "://" not in skill.entrypoint:
        yield _first_word(skill.entrypoint)
    if kind in _BY_FUNCTION:
        yield python_of(sandbox)
    serve = skill.adapter_options.get("serve") if kind == "http" else None
    if serve:
        yield str(serve["command"][0])
        if not sandbox.shares_network:
            yield python_of(sandbox)  # for the relay


def _first_word(line: str) -> str:
    try:
        words = shlex.split(line)
    except ValueError:  # its adapter says what is wrong with it
        words = line.split()
    return words[0] if words else ""


def _is_missing(word: str, skill: Skill, sandbox: Sandbox) -> bool:
    if not word or "/" in word:
        return False
    if isinstance(sandbox, DockerSandbox):
        return sandbox.lacks(word, skill.folder)
    return shutil.which(word) is None
