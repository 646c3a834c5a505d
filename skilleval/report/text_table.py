"""A table as cells of text, for every format; foreign text in it is not escaped yet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table of text; `numeric` says which columns stand to the right."""

    name: str
    title: str
    note: str
    header: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]


def text_table(  # noqa: PLR0913 - one argument a part of a table
    name: str,
    *,
    title: str,
    note: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    texts: Collection[int],
) -> TextTable | None:
    """Make a table of rows, nothing of none; `texts` are the columns that hold words."""
    found = tuple(tuple(row) for row in rows)
    if not found:
        return None
    numeric = tuple(index not in texts for index in range(len(header)))
    return TextTable(name=name, title=title, note=note, header=tuple(header), numeric=numeric, rows=found)
