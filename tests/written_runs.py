"""Folders of runs that are nothing but a manifest, and what must stay as it is, for tests of what only looks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_run(root: Path, key: str, **changes: Any) -> Path:
    """Write the manifest of a run that passed its gate, with these changes; it has no rows. Give its folder."""
    folder = root / key
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {
        "schema_version": "3",
        "run_id": folder.name,
        "experiment": "nightly",
        "config": {"gate": {"exit_on_fail": True}},
        "benchmark": {"id": "dates", "version": "1.0.0"},
        "skills": [{"id": "calendar"}],
        "scorers": {"exact": {}},
        "n_planned": 8,
        "counts": {"trials": 8},
        "started_at": "2026-11-02T10:00:00.000+00:00",
        "ended_at": "2026-11-02T10:01:00.000+00:00",
        "interrupted": False,
        "exit_code": 0,
        **changes,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def contents(root: Path) -> dict[str, tuple[int, bytes]]:
    """Give every file below a folder with its time of change and its bytes: what must stay as it is."""
    return {
        str(path.relative_to(root)): (path.lstat().st_mtime_ns, path.read_bytes())
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
