"""The store: a folder a run, with `manifest.json` and the tables `trials/ tries/ scores/ judgements/` as Parquet.

Everything is written beside itself and renamed, so a reader never sees half a file. What reads and writes tables is
loaded when it is first asked for: who only wants to know how far runs are should not wait for Polars and Arrow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from skilleval.results.store.folders import (
    MANIFEST,
    check_root,
    create_run,
    is_live,
    journal_path,
    read_manifest,
    remove_stillborn,
    write_manifest,
    write_text,
)

if TYPE_CHECKING:
    from skilleval.results.store.compaction import compact
    from skilleval.results.store.joining import join_tables
    from skilleval.results.store.parts import scan_table
    from skilleval.results.store.statuses import read_statuses, read_unjudged, read_unmeasured, read_waiting

__all__ = [
    "MANIFEST",
    "check_root",
    "compact",
    "create_run",
    "is_live",
    "join_tables",
    "journal_path",
    "read_manifest",
    "read_statuses",
    "read_unjudged",
    "read_unmeasured",
    "read_waiting",
    "remove_stillborn",
    "scan_table",
    "write_manifest",
    "write_text",
]

_MODULES: Final = {
    "compact": "compaction",
    "join_tables": "joining",
    "read_statuses": "statuses",
    "read_unjudged": "statuses",
    "read_unmeasured": "statuses",
    "read_waiting": "statuses",
    "scan_table": "parts",
}


def __getattr__(name: str) -> Any:
    """Load what works on tables when it is first asked for."""
    if name not in _MODULES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
