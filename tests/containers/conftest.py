from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from containers.boxes import containers
from naps import Nap


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder that others may read, unlike those that pytest makes."""
    made = tmp_path / "skill"
    made.mkdir(mode=0o755)
    return made


@pytest.fixture
def nap() -> Iterator[Nap]:
    """Give a nap; whoever still takes it after the test fails the test."""
    nap = Nap()
    yield nap
    assert nap.wake() == []


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No test leaves a container, however it ends."""
    yield
    assert containers() == ()
