"""Which arenas are fought in: those that need a Docker engine only where that is asked for."""

from __future__ import annotations

import shutil

import pytest
from hostile.cases import Arena


def marks(arena: Arena) -> tuple[pytest.MarkDecorator, ...]:
    """Give the markers of tests in an arena beyond `hostile`."""
    found = [pytest.mark.docker] if arena.needs_engine else []
    if arena.needs_program is not None:
        is_absent = shutil.which(arena.needs_program) is None
        found.append(pytest.mark.skipif(is_absent, reason=f"{arena.needs_program} is not installed"))
    return tuple(found)
