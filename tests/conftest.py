"""What tests of every folder share.

Laws are checked with the same examples each time, and no example has a time limit: neither chance nor a busy machine
decides whether a change may land. `--hypothesis-profile=default` draws new examples.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from warm_program import WarmProgram

settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def warm_program() -> Iterator[WarmProgram]:
    """Give the program that has been imported already; it starts with its first command line."""
    with WarmProgram() as program:
        yield program
