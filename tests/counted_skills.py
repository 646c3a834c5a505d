"""A skill that leaves a mark for each call, and runs of it: how tests see whether a skill was called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from small_skills import Said, said, write_skill, write_tasks

from skilleval.results.schema import TABLES
from skilleval.results.store import scan_table

_PROGRAM = """import json, sys
with open(MARKS, "a") as marks:
    marks.write("called\\n")
request = json.load(sys.stdin)
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"result": 1}}))
"""


@dataclass(frozen=True, slots=True)
class Counted:
    """A folder with one such skill, two tasks that it solves, its runs, and a cache of its own."""

    root: Path

    @property
    def skill(self) -> Path:
        """The folder of the skill, made when first asked for."""
        folder = self.root / "skills" / "counted"
        if not folder.exists():
            write_skill(self.root / "skills", "counted")
            (folder / "skill.py").write_text(
                _PROGRAM.replace("MARKS", repr(str(self._marks))), encoding="utf-8"
            )
            write_tasks(self.tasks)
        return folder

    @property
    def tasks(self) -> Path:
        """The file of the tasks."""
        return self.root / "tasks.json"

    @property
    def _marks(self) -> Path:
        return self.root / "marks"

    @property
    def n_calls(self) -> int:
        """How often the skill was called so far."""
        return len(self._marks.read_text().splitlines()) if self._marks.exists() else 0

    def evaluated(self, *arguments: str) -> Said:
        """Evaluate the skill."""
        return said(
            "eval", self.skill, "--tasks", self.tasks, "--output-dir", self.root / "out", "sandbox=none",
            f"paths.cache={self.root / 'cache'}", *arguments, "--json",
        )  # fmt: skip

    def scored(self, *arguments: str) -> Said:
        """Score the newest run again."""
        return said("score", "latest", "--store", self.root / "out", *arguments, "--json")


def table(document: Any, name: str) -> pl.DataFrame:
    """Read a table of the run that a document tells of."""
    return scan_table(Path(document["run_dir"]), TABLES[name]).collect()
