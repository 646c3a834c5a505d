"""Runs by recorded attempts for tests of resuming: what the recording says may change between two sessions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.app.prepare import Prepared, prepare
from skilleval.config.compose import compose_settings

RIGHT: Mapping[str, Any] = {"output": {"result": 1}, "latency_ms": 12.5}
WRONG: Mapping[str, Any] = {"output": {"result": 2}, "latency_ms": 7.25}
NULL: Mapping[str, Any] = {"output": None}
TIMEOUT: Mapping[str, Any] = {"status": "timeout", "latency_ms": 30000.0}
BROKEN: Mapping[str, Any] = {"status": "skill_error", "failure_kind": "exit_code"}
DOWN: Mapping[str, Any] = {"status": "provider_error", "failure_kind": "http_503"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A folder with a skill that is never run, its tasks, and a recording."""

    folder: Path

    def record(self, endings: Mapping[str, Mapping[str, Any]]) -> None:
        """Say how the trials of each task end from now on; other tasks are not recorded."""
        lines = [json.dumps({"task_id": name, **line}) for name, line in endings.items()]
        (self.folder / "recorded.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    @property
    def arguments(self) -> list[str]:
        """What an evaluating command is given."""
        places = ("--skills", "skill", "--tasks", "tasks.json", "--output-dir", "out")
        whole = [str(self.folder / word) if not word.startswith("-") else word for word in places]
        return [*whole, "adapter=replay", f"adapter.path={self.folder / 'recorded.jsonl'}", "sandbox=none"]

    def prepared(self, *overrides: str, out: str = "out") -> Prepared:
        """Get a run of it ready in this process."""
        settings = [
            f"skill_set.paths=[{self.folder / 'skill'}]",
            f"benchmark.tasks={self.folder / 'tasks.json'}",
            f"paths.output_dir={self.folder / out}",
            f"paths.cache={self.folder / 'cache'}",
            "adapter=replay",
            f"adapter.path={self.folder / 'recorded.jsonl'}",
            "sandbox=none",
            "report.formats=[json]",
            *overrides,
        ]
        nobody = self.folder / "nobody.yaml"
        return prepare(compose_settings(settings, project=self.folder, user_file=nobody))

    def run_folder(self, out: str = "out") -> Path:
        """Give the folder of its only run."""
        (manifest,) = (self.folder / out).glob("*/manifest.json")
        return manifest.parent

    def manifest(self, out: str = "out") -> dict[str, Any]:
        """Read the manifest of its only run."""
        found: dict[str, Any] = json.loads((self.run_folder(out) / "manifest.json").read_text("utf-8"))
        return found


def write_workload(
    folder: Path, endings: Mapping[str, Mapping[str, Any]], tasks: Sequence[str] = ()
) -> Workload:
    """Write a workload; the tasks are those of the recording unless others are named."""
    skill = {
        "id": "recorded",
        "name": "R",
        "version": "1.0.0",
        "adapterType": "subprocess",
        "entrypoint": "none",
    }
    (folder / "skill").mkdir()
    (folder / "skill" / "skill.json").write_text(json.dumps(skill), encoding="utf-8")
    asked = [
        {"id": name, "inputData": {}, "expectedOutput": {"type": "exact", "value": 1}}
        for name in tasks or endings
    ]
    (folder / "tasks.json").write_text(json.dumps(asked), encoding="utf-8")
    workload = Workload(folder=folder)
    workload.record(endings)
    return workload
