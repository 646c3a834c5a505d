"""Benchmarks whose tasks are brought, and the data for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.benchmarks import BenchmarkReading, read_benchmark
from skilleval.errors import CatalogError, Problem

Rows = list[dict[str, Any]]


@pytest.fixture
def descriptor(tmp_path: Path) -> Callable[..., Path]:
    """Write a benchmark that names a loader; keys given as null are left out."""

    def write(**changes: Any) -> Path:
        value = {
            "id": "brought",
            "name": "Brought",
            "version": "2.0.0",
            "domain": "reasoning",
            "scoringMethod": "mean",
            "loader": "gaia",
            **changes,
        }
        path = tmp_path / "brought" / "benchmark.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({key: one for key, one in value.items() if one is not None}))
        return path

    return write


@pytest.fixture
def lines(tmp_path: Path) -> Callable[[Rows], Path]:
    """Write rows as JSON Lines into a folder of their own."""

    def write(rows: Rows) -> Path:
        path = tmp_path / "data" / "metadata.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return path

    return write


@pytest.fixture
def loaded(descriptor: Callable[..., Path], lines: Callable[[Rows], Path]) -> Callable[..., BenchmarkReading]:
    """Read rows through a loader."""

    def read(loader: str, *rows: dict[str, Any]) -> BenchmarkReading:
        return read_benchmark(descriptor(loader=loader), data=lines(list(rows)))

    return read


@pytest.fixture
def problems_of() -> Callable[[Callable[[], object]], tuple[Problem, ...]]:
    """Give the problems of a reading."""

    def call(read: Callable[[], object]) -> tuple[Problem, ...]:
        with pytest.raises(CatalogError) as caught:
            read()
        return caught.value.problems

    return call
