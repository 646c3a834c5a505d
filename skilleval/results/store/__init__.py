"""The store: a folder a run, with `manifest.json` and the tables `trials/ tries/ scores/ judgements/` as Parquet.

Everything is written beside itself and renamed, so a reader never sees half a file.
"""

from __future__ import annotations

from skilleval.results.store.compaction import compact, is_live
from skilleval.results.store.folders import (
    MANIFEST,
    check_root,
    create_run,
    journal_path,
    read_manifest,
    remove_stillborn,
    write_manifest,
    write_text,
)
from skilleval.results.store.joining import join_tables
from skilleval.results.store.parts import scan_table
from skilleval.results.store.statuses import read_statuses, read_unjudged, read_unmeasured

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
    "remove_stillborn",
    "scan_table",
    "write_manifest",
    "write_text",
]
