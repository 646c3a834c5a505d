"""Tables of several runs become those of one, a few rows at a time."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from recorded_runs import RIGHT, write_workload

from skilleval.app.evaluate import evaluate
from skilleval.errors import ResultsError, WriteError
from skilleval.results.schema import TABLES, TRIALS
from skilleval.results.store import join_tables, scan_table


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a run of three trials."""
    workload = write_workload(tmp_path_factory.mktemp("run"), dict.fromkeys(("t1", "t2", "t3"), RIGHT))
    return evaluate(workload.prepared(), observe=lambda _: None).folder


def test_rows_are_those_of_the_new_run(source: Path, tmp_path: Path) -> None:
    """All tables are there, rows stand in the order of their sources, and small sources share a row group."""
    counts = join_tables([source, source], tmp_path, "new")
    assert counts == {"trials": 6, "tries": 6, "scores": 6, "judgements": 0}
    joined = scan_table(tmp_path, TRIALS).collect()
    before = scan_table(source, TRIALS).collect()
    assert joined["run_id"].unique().to_list() == ["new"]
    assert joined["trial_id"].to_list() == before["trial_id"].to_list() * 2
    assert joined.schema == before.schema
    assert pq.ParquetFile(tmp_path / "trials" / "part-00000.parquet").num_row_groups == 1
    assert all(scan_table(tmp_path, table).collect() is not None for table in TABLES.values())


def test_columns_that_came_later_are_null(source: Path, tmp_path: Path) -> None:
    """A part of an older schema is read as the store reads it."""
    older = tmp_path / "older" / "trials"
    older.mkdir(parents=True)
    frame = pl.read_parquet(source / "trials" / "part-00000.parquet").drop("serial_status", "isolation")
    frame.write_parquet(older / "part-00000.parquet")
    join_tables([older.parent], tmp_path / "new", "new")
    joined = scan_table(tmp_path / "new", TRIALS).collect()
    assert joined["serial_status"].null_count() == 3
    assert joined["isolation"].to_list() == ["trial"] * 3


def test_values_that_break_the_contract_are_not_taken_over(source: Path, tmp_path: Path) -> None:
    """Rows are checked again: a source may have been changed by other hands."""
    wrong = tmp_path / "wrong" / "trials"
    wrong.mkdir(parents=True)
    table = pq.read_table(source / "trials" / "part-00000.parquet")
    place = table.schema.get_field_index("n_tries")
    pq.write_table(table.set_column(place, "n_tries", pa.array([0, 1, 1])), wrong / "part-00000.parquet")
    with pytest.raises(ResultsError, match="n_tries"):
        join_tables([wrong.parent], tmp_path / "new", "new")


def test_no_right_to_write_is_told(source: Path, tmp_path: Path) -> None:
    """A file in the way is named."""
    (tmp_path / "trials").write_text("")
    with pytest.raises(WriteError, match="cannot write"):
        join_tables([source], tmp_path, "new")
