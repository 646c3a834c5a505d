"""What is evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilleval.domain.files import BundledFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """What a `SKILL.md` tells a model: its body, without frontmatter, and the files beside it.

    `frontmatter` holds the scalars as they are written, e.g. `1.0` stays the text `1.0`.
    """

    body: str
    frontmatter: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[BundledFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill: callable, as its `skill.json` describes it, or instructions for a model (`SKILL.md`).

    `folder` is the skill's own folder: its program always runs there. `digest` is the SHA-256 over the folder; that of
    an instruction skill leaves out its evals. `adapter_options` is what its `adapter.config.json` says, validated,
    with keys in snake_case. `instructions` is null for a callable skill.
    """

    id: str
    version: str
    name: str
    adapter: str
    entrypoint: str
    folder: Path
    source: Path
    digest: str
    description: str = ""
    tags: tuple[str, ...] = ()
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    adapter_options: Mapping[str, Any] = field(default_factory=dict)
    instructions: Instructions | None = None
