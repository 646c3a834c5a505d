"""CPU seconds of `skilleval --help` and of an argument error, beside bare Python and Python with click."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rows import Row

SKILLEVAL = str(Path(sys.executable).parent / "skilleval")


def cpu_seconds(command: Sequence[str], loops: int) -> float:
    """Give the median user + system seconds of a command."""
    spent = []
    for _ in range(loops):
        before = os.times()
        subprocess.run(command, capture_output=True, check=False)
        after = os.times()
        spent.append(
            after.children_user + after.children_system - before.children_user - before.children_system
        )
    return statistics.median(spent)


def rows(*, quick: bool) -> list[Row]:
    """Measure start-up; the goal is 0.2 s CPU."""
    loops = 5 if quick else 21
    floor = cpu_seconds([sys.executable, "-c", "import click"], loops)
    commands = {
        "skilleval --help": [SKILLEVAL, "--help"],
        "skilleval eval --help": [SKILLEVAL, "eval", "--help"],
        "argument error": [SKILLEVAL, "eval", "--runs", "many"],
    }
    return [
        Row(
            what=name,
            value=f"{(spent := cpu_seconds(command, loops)):.3f} s CPU",
            floor=f"import click {floor:.3f} s CPU",
            ratio=spent / floor,
            goal="≤ 0.2 s CPU",
            met=spent <= 0.2,
        )
        for name, command in commands.items()
    ]
