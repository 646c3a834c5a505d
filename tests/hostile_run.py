"""A stored run in which a skill says what could break out of a page, a table, a notebook, a document or an XML file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cases import case_input

from skilleval.app.evaluate import evaluate
from skilleval.app.prepare import prepare
from skilleval.config.compose import compose_settings

SCRIPT = "</script><img src=x onerror=alert(1)>"
SAYINGS: dict[str, str] = {
    "case": case_input("C47")["output"],
    "quotes": "\"'`\\\"''`` ${x} {{x}} {% x %} <?php ?> <![CDATA[ ]]> -->",
    "direction": "abc\u202edef\u2066ghi\u200f \u061c\ufeff",
    "control": "a\x00b\x1b[2Jc\x07\x85\u2028\u2029\r\n\td",
    "markdown": "| a | b |\n|---|---|\n[x](javascript:alert(1)) ![x](http://127.0.0.1/x.png)\n```\n# h\n<details>",
    "latex": "\\input{/etc/passwd} \\write18{id} $x_1^2$ 100 % # & ~ ^ {} \\end{document}",
    "formula": '=HYPERLINK("http://127.0.0.1","x")',
    "long": SCRIPT + "x" * 1_000_000,
    "half": "half of a pair",
}
_PROGRAM = """import json, sys
request = json.load(sys.stdin)
said = request["params"]["said"].replace("half", "\\ud800")
sys.stderr.buffer.write(said.encode("utf-8", "replace"))
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"result": said, said[:200]: said[:9]}}))
"""


def hostile_run(folder: Path, *overrides: str) -> Path:
    """Let a skill say each thing as its output, as a key and on stderr, twice; give the run's folder."""
    skill = {
        "id": "parrot",
        "name": SCRIPT,
        "version": "1.0.0",
        "adapterType": "subprocess",
        "entrypoint": "python3 skill.py",
    }
    (folder / "skill").mkdir(parents=True)
    (folder / "skill" / "skill.json").write_text(json.dumps(skill), encoding="utf-8")
    (folder / "skill" / "skill.py").write_text(_PROGRAM, encoding="utf-8")
    tasks = [_task(name, text) for name, text in SAYINGS.items()]
    (folder / "tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
    settings = [
        f"skill_set.paths=[{folder / 'skill'}]",
        f"benchmark.tasks={folder / 'tasks.json'}",
        f"paths.output_dir={folder / 'out'}",
        f"paths.cache={folder / 'cache'}",
        "sandbox=none",
        "runner.repeats=2",
        "report.formats=[json]",
        *overrides,
    ]
    composed = compose_settings(settings, project=folder, user_file=folder / "nobody.yaml")
    return evaluate(prepare(composed), observe=lambda _: None).folder


def _task(name: str, text: str) -> dict[str, Any]:
    """Ask for the saying; only the quotes are what was expected."""
    expected = text if name == "quotes" else SCRIPT
    return {
        "id": f"t-{name}",
        "description": SCRIPT,
        "tags": [SAYINGS["case"], SAYINGS["latex"]],
        "inputData": {"said": text},
        "expectedOutput": {"type": "contains", "value": expected, "keywords": [expected]},
    }
