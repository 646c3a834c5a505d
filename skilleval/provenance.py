"""Where a number comes from: versions, platform, commit — what a reader needs to rebuild a run."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import secrets
import subprocess
import sys
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from skilleval import __version__

_PACKAGES = (
    "hydra-core",
    "omegaconf",
    "polars",
    "pyarrow",
    "pandera",
    "pydantic",
    "msgspec",
    "scipy",
    "altair",
)


def new_run_id(now: datetime) -> str:
    """Make a run id that sorts by start time (UTC) and is unique: `20261130T113330Z-9f86d0`."""
    return f"{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def versions() -> dict[str, str]:
    """Give the versions of Python, of skilleval and of the packages that shape its numbers."""
    own = {"python": platform.python_version(), "skilleval": __version__}
    return own | {name: _installed(name) for name in _PACKAGES}


@cache
def _installed(package: str) -> str:
    """Give the version of a package; what a process has loaded stays what it is, and metadata is slow to read."""
    return importlib.metadata.version(package)


def machine() -> dict[str, Any]:
    """Give what the timings depend on."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "implementation": sys.implementation.name,
        "cpus": os.cpu_count(),
    }


def git_state(folder: Path) -> dict[str, Any] | None:
    """Give commit and cleanliness of the repository around a folder; null where there is none."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": bool(changes)}


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603 - fixed program and arguments
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
