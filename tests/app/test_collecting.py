from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress

import pytest

from skilleval.app.collecting import sparing


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    """Begin and end with nothing out of the collector's sight; Python itself keeps some of its own there."""
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_what_was_there_is_out_of_sight_until_the_end() -> None:
    """Objects made before are frozen inside and collected again afterwards, also when the run breaks."""
    before = [object()]
    assert gc.get_freeze_count() == 0
    with suppress(RuntimeError), sparing():
        assert gc.get_freeze_count() > 0
        assert not any(one is before for one in gc.get_objects())
        raise RuntimeError
    assert gc.get_freeze_count() == 0
    assert any(one is before for one in gc.get_objects())


def test_what_is_made_inside_is_collected() -> None:
    """A circle that nobody holds is found, although the run goes on."""
    with sparing():
        circle: list[object] = []
        circle.append(circle)
        del circle
        assert gc.collect() >= 1


def test_the_choice_of_the_program_around_stands() -> None:
    """Who froze objects before finds them frozen afterwards."""
    gc.freeze()
    count = gc.get_freeze_count()
    with sparing():
        pass
    assert gc.get_freeze_count() == count
