from __future__ import annotations

import pytest

from skilleval.sandboxes.docker.leftovers import Leftover, is_forsaken


@pytest.mark.parametrize(
    ("is_in_use", "even_unknown", "forsaken"),
    [
        (True, True, False),
        (True, False, False),
        (False, False, True),
        (None, False, False),
        (None, True, True),
    ],
)
def test_nothing_of_a_living_evaluator_is_removed(
    is_in_use: bool | None, even_unknown: bool, forsaken: bool
) -> None:
    """Of one that cannot be seen from here only if that is asked for."""
    leftover = Leftover(container="c", run="r", pid=1, is_in_use=is_in_use)
    assert is_forsaken(leftover, even_unknown=even_unknown) is forsaken
