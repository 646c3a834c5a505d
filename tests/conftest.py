"""What tests of every folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from warm_program import WarmProgram


@pytest.fixture(scope="session")
def warm_program() -> Iterator[WarmProgram]:
    """Give the program that has been imported already; it starts with its first command line."""
    with WarmProgram() as program:
        yield program
