"""The page about sandboxes: written by hand but for two tables, which follow from the hostile suite."""

from __future__ import annotations

import sys
from pathlib import Path

from skilleval.sandboxes.base import GUARANTEES

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "sandboxes.md"
_WRITTEN = "written by `make docs`; do not edit by hand"
sys.path.insert(0, str(ROOT / "tests"))


def sandboxes_page() -> str:
    """Give the page about sandboxes with its generated tables; the rest of it is written by hand."""
    from hostile.table import expected_table

    text = _with_table(PAGE.read_text(encoding="utf-8"), "guarantees", _guarantees_table())
    return _with_table(text, "hostile table", expected_table())


def _with_table(text: str, name: str, table: str) -> str:
    start, end = f"<!-- {name}: {_WRITTEN} -->\n", f"<!-- end of {name} -->"
    before, _, rest = text.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n{table}\n{end}{after}"


def _guarantees_table() -> str:
    from hostile.cases import ALWAYS, ARENAS

    arenas = [arena for arena in ARENAS if arena.promises]
    heads = "".join(f" `{arena.name}` |" for arena in arenas)
    lines = [f"| guarantee | meaning |{heads}", "|---|---|" + "---|" * len(arenas)]
    for name, meaning in GUARANTEES.items():
        marks = "".join(" yes |" if name in arena.promises | ALWAYS else " |" for arena in arenas)
        lines.append(f"| `{name}` | {meaning} |{marks}")
    return "\n".join(lines) + "\n"
