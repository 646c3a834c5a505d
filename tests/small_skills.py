"""Skills that answer each request with one fixed value, tasks that 1 solves, and a quick way to run commands."""

from __future__ import annotations

import io
import json
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from skilleval.cli import run

_PROGRAM = """import json, sys
request = json.load(sys.stdin)
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"result": ANSWER}}))
"""
TASKS = [
    {"id": name, "inputData": {}, "expectedOutput": {"type": "exact", "value": 1}} for name in ("t1", "t2")
]


def write_skill(root: Path, skill_id: str, *, answer: object = 1, **changes: Any) -> Path:
    """Write a skill below a folder; give its own folder."""
    folder = root / skill_id
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {
        "id": skill_id,
        "name": skill_id.capitalize(),
        "version": "1.0.0",
        "adapterType": "subprocess",
        "entrypoint": "python3 skill.py",
        **changes,
    }
    (folder / "skill.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "skill.py").write_text(_PROGRAM.replace("ANSWER", repr(answer)), encoding="utf-8")
    return folder


def write_tasks(path: Path) -> Path:
    """Write two tasks that 1 solves."""
    path.write_text(json.dumps(TASKS), encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How a command ended that ran in this process."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


def said(*arguments: object) -> Said:
    """Run a command line in this process, which is much faster than the installed script.

    It stands in a folder that is thrown away, so paths are whole and nothing is left where the tests were started.
    """
    out, err = io.StringIO(), io.StringIO()
    with TemporaryDirectory() as nowhere, chdir(nowhere), redirect_stdout(out), redirect_stderr(err):
        code = run([str(one) for one in arguments])
    return Said(code=code, out=out.getvalue(), err=err.getvalue())
