"""What tests of stored runs share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

Warned = Callable[[], AbstractContextManager[list[str]]]


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@pytest.fixture
def warned() -> Warned:
    """Collect the warnings that compaction gives, whatever was done to the log before."""

    @contextmanager
    def collecting() -> Iterator[list[str]]:
        logger, kept = logging.getLogger("skilleval.results.store.compaction"), _Kept()
        logger.addHandler(kept)
        try:
            yield kept.messages
        finally:
            logger.removeHandler(kept)

    return collecting
