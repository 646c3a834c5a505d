"""Adapter classes such as other packages bring."""

from __future__ import annotations

import json

from skilleval.adapters.base import Call
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.skills import Skill
from skilleval.errors import AdapterError
from skilleval.sandboxes.base import Sandbox
from skilleval.strict import StrictModel

CLOSED: list[str] = []
"""Which adapters were closed, by what their options call them."""


class NoOptions(StrictModel):
    """Nothing can be set."""


class Sums:
    """Drives skills whose entrypoint is a sum, e.g. `1 + 2`."""

    Options = NoOptions
    kind = "sums"

    def __init__(self, options: NoOptions, sandbox: Sandbox) -> None:
        """Take options and sandbox, as every adapter does."""

    async def invoke(self, call: Call) -> Reply:
        """Add up."""
        words = call.skill.entrypoint.split(" + ")
        if not all(word.isdigit() for word in words):
            return Reply(status=Status.UNSUPPORTED, failure_kind="no_sum", message="there is nothing to add")
        return Reply(
            status=Status.COMPLETED, output=json.dumps({"sum": sum(map(int, words))}).replace(" ", "")
        )

    async def aclose(self) -> None:
        """Nothing is held."""


class NamedOptions(StrictModel):
    """One thing must be set."""

    name: str


class Named:
    """Answers with its own name, and refuses skills of another version."""

    Options = NamedOptions
    kind = "named"

    def __init__(self, options: NamedOptions, sandbox: Sandbox) -> None:
        self._answer = f"{options.name} in {sandbox.name}"

    def check(self, skill: Skill) -> None:
        """Drive only what is new.

        Raises:
            AdapterError: the skill is old.
        """
        if skill.version == "0.0.1":
            raise AdapterError("too old")

    async def invoke(self, call: Call) -> Reply:
        """Say who answers whom."""
        return Reply(status=Status.COMPLETED, output=json.dumps([self._answer, call.skill.id]))

    async def aclose(self) -> None:
        """Leave a trace."""
        CLOSED.append(self._answer)
