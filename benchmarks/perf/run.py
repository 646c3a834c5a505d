"""Measure the speed of skilleval and print a table; floors are measured in the same run.

Machines are noisy: read the ratio, not the seconds. `--quick` runs reduced loops and never fails on a goal.
"""

from __future__ import annotations

import argparse

import analytics
import containers
import judged
import loopback
import memory
import report_pages
import spawn
import startup
import sweeps
import throughput
import worker
import writing

PARTS = (
    startup,
    throughput,
    writing,
    spawn,
    worker,
    loopback,
    judged,
    containers,
    analytics,
    report_pages,
    sweeps,
    memory,
)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="reduced loops, for continuous integration")
    parser.add_argument("--only", choices=[part.__name__ for part in PARTS], help="measure one part")
    options = parser.parse_args()
    print("| what | measured | floor in the same run | ratio | goal | met |")
    print("|---|---|---|---|---|---|")
    for part in PARTS:
        if options.only not in {None, part.__name__}:
            continue
        for row in part.rows(quick=options.quick):
            met = "yes" if row.met else "**no**"
            print(
                f"| {row.what} | {row.value} | {row.floor} | {row.ratio:.2f} | {row.goal} | {met} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
