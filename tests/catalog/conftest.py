"""What the tests of the catalog write to disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Writer = Callable[..., Path]


@pytest.fixture
def write_skill(tmp_path: Path) -> Writer:
    """Write a skill folder below `tmp_path`; keys given as null are left out."""

    def write(folder: str = "adder", **changes: Any) -> Path:
        manifest = {
            "id": "adder",
            "name": "Adder",
            "version": "1.0.0",
            "description": "Adds two numbers",
            "adapterType": "subprocess",
            "entrypoint": "python3 skill.py",
            **changes,
        }
        manifest = {key: value for key, value in manifest.items() if value is not None}
        path = tmp_path / folder
        path.mkdir(parents=True, exist_ok=True)
        (path / "skill.json").write_text(json.dumps(manifest), encoding="utf-8")
        return path

    return write


@pytest.fixture
def write_json(tmp_path: Path) -> Writer:
    """Write a JSON value to a file below `tmp_path`."""

    def write(value: object, name: str = "benchmark.json") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return write


@pytest.fixture
def write_skill_md(tmp_path: Path) -> Writer:
    """Write a folder with a `SKILL.md` below `tmp_path`, and further files by their path."""

    def write(folder: str = "tide", text: str | bytes | None = None, **files: str | bytes) -> Path:
        path = tmp_path / folder
        path.mkdir(parents=True, exist_ok=True)
        name = path.name
        default = f"---\nname: {name}\ndescription: Reads tide tables.\n---\nLook it up.\n"
        put(path / "SKILL.md", default if text is None else text)
        for place, content in files.items():
            put(path / place, content)
        return path

    return write


def put(path: Path, content: str | bytes) -> None:
    """Write a file with the folders above it, byte by byte as it is given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
