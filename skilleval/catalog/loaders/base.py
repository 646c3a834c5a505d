"""What every loader offers, and the rows of a data file it works on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilleval.catalog.notices import Notices
from skilleval.catalog.rules import said
from skilleval.errors import Problem

WITHHELD = "the answer is not public, so that the task is going to be ungraded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One object of a data file; `place` says where it stands, e.g. `line 3`, `task` which task it becomes."""

    place: str
    task: str
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """The rows of a data file, and what is found wrong with them.

    `folder` is where the file was named, links not followed: what goes with it stands there.
    """

    where: str
    folder: Path
    digest: str
    rows: tuple[Row, ...]
    notices: Notices
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, row: Row, key: str, *, expected: str, found: str, hint: str = "") -> None:
        """Note that a value of a row cannot be used."""
        place = f"{row.place}: {key}"
        self.problems.append(Problem(where=self.where, key=place, expected=expected, found=found, hint=hint))

    def text(self, row: Row, key: str) -> str:
        """Give the text of a key, or "" and a problem where there is none."""
        value = row.value.get(key)
        if isinstance(value, str) and value.strip():
            return value
        self.refuse(row, key, expected="a text, not empty", found=found(row, key))
        return ""


def found(row: Row, key: str) -> str:
    """Show what stands under a key of a row."""
    return said(row.value[key]) if key in row.value else "nothing"


def withheld(data: Data, row: Row) -> dict[str, Any]:
    """Give what a task without a public answer is made of: there is nothing to check, and a notice says so."""
    data.notices.add(row.task, WITHHELD)
    return {"expectedOutput": {}, "evaluator": {"type": "exact"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loader:
    """Makes tasks, as they stand in a `benchmark.json`, of the rows of a data file.

    `task` may find problems in its row; then what it gives is not used. `bring` says how a user gets the file.
    """

    task: Callable[[Row, Data], Mapping[str, Any]]
    bring: str
