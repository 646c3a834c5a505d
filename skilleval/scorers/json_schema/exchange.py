"""What is said between a scorer and the process that holds outputs against schemas: a line each way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Draft = Literal["7", "2020-12"]


class UnusableSchemaError(ValueError):
    """A schema that judges nothing, or that cannot be applied; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A schema, and the ways to read an output that are held against it until one fits.

    A schema none of whose keywords checks anything is refused unless `may_be_vacuous`. Of each reading at most
    `n_errors` errors are told. `timeout_ms` is the limit of the whole.
    """

    schema: Any
    draft: Draft
    readings: Sequence[Any]
    n_errors: int
    timeout_ms: float
    may_be_vacuous: bool = False

    def line(self) -> bytes:
        """Give the check as one line.

        Raises:
            UnusableSchemaError: schema or output have no JSON text.
        """
        rest = {
            "draft": self.draft,
            "n_errors": self.n_errors,
            "timeout_ms": self.timeout_ms,
            "may_be_vacuous": self.may_be_vacuous,
        }
        try:
            schema = json.dumps(self.schema, allow_nan=False)
        except (ValueError, RecursionError) as error:
            raise UnusableSchemaError(f"malformed schema: {error}") from None
        try:
            readings = json.dumps(list(self.readings))
        except RecursionError:
            raise UnusableSchemaError("the output is nested too deeply to be handed over") from None
        return f'{{"schema": {schema}, "readings": {readings}, {json.dumps(rest)[1:]}\n'.encode()


def check_from(line: bytes) -> Check:
    """Give the check that a line tells of."""
    return Check(**json.loads(line))


def errors_from(line: bytes) -> list[list[str]]:
    """Give the errors of each reading, up to the one that has none, as a line tells them.

    Raises:
        UnusableSchemaError: the line says why there are none to tell.
    """
    said: dict[str, Any] = json.loads(line)
    if "unusable" in said:
        raise UnusableSchemaError(said["unusable"])
    errors: list[list[str]] = said["errors"]
    return errors
