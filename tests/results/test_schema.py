"""Nothing that breaks the contract of a table is ever written, and what breaks it is named."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from skilleval.errors import ResultsError
from skilleval.results.schema import TABLES, TRIES, Kind, checked, polars_schema


def broken_values() -> Iterator[tuple[str, str, Any]]:
    """Give table, column and value of everything that the contract refuses."""
    for table in TABLES.values():
        for column in table.columns:
            bad: list[Any] = [] if column.nullable else [None]
            bad += [] if column.allowed is None else ["some other word"]
            bad += [] if column.low is None else [column.low - 1]
            bad += [] if column.high is None else [column.high + 1]
            bad += [float("nan"), float("inf"), float("-inf")] if column.kind is Kind.FLOAT else []
            yield from ((table.name, column.name, value) for value in bad)


@pytest.mark.parametrize(("name", "column", "value"), list(broken_values()))
def test_every_rule_of_every_column_is_kept(name: str, column: str, value: Any) -> None:
    """One bad value among good ones is found and named, whichever rule it breaks."""
    table = TABLES[name]
    good = {
        Kind.TEXT: "x",
        Kind.JSON: "1",
        Kind.INT: 1,
        Kind.FLOAT: 1.0,
        Kind.BOOL: True,
        Kind.TIME: datetime(2026, 1, 1, tzinfo=UTC),
        Kind.TEXTS: ["x"],
    }
    row = {one.name: one.allowed[0] if one.allowed else good[one.kind] for one in table.columns}
    frame = pl.DataFrame([row, {**row, column: value}, row], schema=polars_schema(table))
    assert checked(table, frame[:1]).height == 1
    with pytest.raises(ResultsError, match=f"table {name} breaks its contract: {column}"):
        checked(table, frame)


@pytest.mark.parametrize("change", [{"extra": pl.lit(1)}, {"run_id": pl.lit(1)}])
def test_other_columns_and_other_types_are_refused(change: dict[str, pl.Expr]) -> None:
    """A table has its own columns alone, also where it has no rows."""
    frame = pl.DataFrame(schema=polars_schema(TRIES)).with_columns(**change)
    with pytest.raises(ResultsError, match="tries breaks its contract"):
        checked(TRIES, frame)
