"""Stored runs by recorded attempts, one after the other, for tests of what is read from many of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recorded_runs import RIGHT, WRONG, Workload, write_workload

from skilleval.app.evaluate import evaluate

TASKS = tuple(f"family/t{number}" if number < 4 else f"t{number}" for number in range(8))


class Runs:
    """Makes runs of one skill on eight tasks, four of which are a family."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.workload: Workload = write_workload(folder, dict.fromkeys(TASKS, RIGHT))
        self.store = folder / "out"

    def run(self, *overrides: str, wrong: Sequence[str] = ()) -> Path:
        """Run once, with a wrong answer to some tasks; give the folder of the run."""
        self.workload.record({name: WRONG if name in wrong else RIGHT for name in TASKS})
        return evaluate(self.workload.prepared(*overrides), observe=lambda _: None).folder

    def change_skill(self, text: str) -> None:
        """Give the skill another file, so that its digest changes."""
        (self.workload.folder / "skill" / "notes.txt").write_text(text, encoding="utf-8")


def rewrite_manifest(folder: Path, **changes: Any) -> None:
    """Change what the manifest of a run says."""
    path = folder / "manifest.json"
    manifest: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**manifest, **changes}), encoding="utf-8")
