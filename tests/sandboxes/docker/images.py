"""A blueprint of a container, for tests that need no engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skilleval.sandboxes.docker.blueprint import Blueprint, Rules, User, View
from skilleval.sandboxes.docker.engine import Image
from skilleval.sandboxes.resources import Resources

USER = User(uid=10001, gid=10001)
RESOURCES = Resources(
    memory_mb=64, cpus=0.5, cpu_seconds=7, processes=10, file_size_mb=2, open_files=99, tmp_mb=3
)


def image(**changes: Any) -> Image:
    """Make an image with some facts changed."""
    values: dict[str, Any] = {
        "reference": "name:tag", "image_id": "sha256:1", "layers": ("sha256:2",), "environment": {}, "volumes": (),
    }  # fmt: skip
    return Image(**(values | changes))


def blueprint(**changes: Any) -> Blueprint:
    """Make a blueprint with some facts changed."""
    folder = Path("/skills/one")
    values: dict[str, Any] = {
        "image": image(), "argv": ("python3", "skill.py"), "folder": folder, "environment": (("A", "b"),),
        "view": View(reads=(folder,)), "user": USER,
    }  # fmt: skip
    return Blueprint(**(values | changes))


def rules(**changes: Any) -> Rules:
    """Make rules with some changed."""
    values: dict[str, Any] = {"resources": RESOURCES, "runtime": None, "network": False, "labels": {"l": "v"}}
    return Rules(**(values | changes))
