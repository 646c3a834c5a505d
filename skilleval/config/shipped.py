"""Where the files that come with skilleval are, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(name: str) -> Path:
    """Give the shipped folder `conf`, `benchmarks` or `examples`.

    A wheel holds it inside the package; in a checkout it stands beside the package.
    """
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name
