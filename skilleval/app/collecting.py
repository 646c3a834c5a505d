"""What Python's garbage collector need not look at while a run lasts."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def sparing() -> Iterator[None]:
    """Keep all that is there already out of the collector's sight: modules, settings and plan outlive the run.

    Each full collection would look through them in vain, which takes a tenth of the time of a replayed trial. Where the
    program around us keeps something out of sight already, nothing is changed.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
