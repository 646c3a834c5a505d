"""Which Python runs a skill's functions: the one that runs skilleval, or one of the sandbox's own."""

from __future__ import annotations

import sys
from typing import Protocol, runtime_checkable

from skilleval.sandboxes.base import Sandbox


@runtime_checkable
class Furnished(Protocol):
    """A sandbox whose programs are not those of this machine."""

    @property
    def python(self) -> str:
        """The word or path that names its Python."""


def python_of(sandbox: Sandbox) -> str:
    """Give the Python that programs in a sandbox can run."""
    return sandbox.python if isinstance(sandbox, Furnished) else sys.executable
