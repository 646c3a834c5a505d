"""Asks what stands at a path that somebody wrote: one that no file system can hold is simply not there."""

from __future__ import annotations

from pathlib import Path


def is_file(path: Path) -> bool:
    """Say whether there is a file; `Path.is_file` raises where a name is too long or a folder closed."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Say whether there is a folder; as `is_file`."""
    try:
        return path.is_dir()
    except OSError:
        return False
