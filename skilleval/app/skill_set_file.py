"""A selection as a file that settings can choose: `skill_set=<its name>`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skilleval.app.selecting import Ranking

SUFFIXES = (".yaml", ".yml")


def selected_text(ranking: Ranking, path: Path) -> str:
    """Give the selected skills as a file: a skill set where its name ends in .yaml, else their paths, one a line."""
    if path.suffix not in SUFFIXES:
        return "".join(f"{row['path']}\n" for row in ranking.selected)
    return skill_set_text(ranking, path.stem)


def skill_set_text(ranking: Ranking, name: str) -> str:
    """Give a skill set: the paths of the selected skills, the first one first; the rest is as in the set `paths`."""
    told = [
        f"# Selected by skilleval select, on {ranking.benchmark}, judged by {ranking.scorer}, the first one first."
    ]
    return (
        "\n".join([*told, "defaults:", "  - paths", "  - _self_", "", *_values(name, ranking.selected)])
        + "\n"
    )


def _values(name: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    # JSON texts are YAML texts, whatever is in them.
    paths = [f"  - {json.dumps(str(Path(row['path']).absolute()), ensure_ascii=False)}" for row in rows]
    return [f"name: {json.dumps(name, ensure_ascii=False)}", "paths:", *paths]
