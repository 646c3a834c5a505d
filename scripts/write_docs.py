"""Write the generated parts of the documentation: the columns of the tables, and what sandboxes promise.

`--check` writes nothing and exits 1 if a file is not current.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from sandboxes_page import sandboxes_page

from skilleval.results.schema import SCHEMA_VERSION, TABLES, Column

ROOT = Path(__file__).parent.parent
NOTE = "<!-- written by `make docs`; do not edit by hand -->"


def results_page() -> str:
    """Describe every table, column by column."""
    return "\n".join([NOTE, *_results_lines()]) + "\n"


def _results_lines() -> Iterator[str]:
    yield f"# Results, schema version {SCHEMA_VERSION}"
    yield ""
    yield (
        "A run is a folder with `manifest.json` and four Parquet tables. Read them with "
        '`polars.scan_parquet("outputs/*/*/trials/*.parquet")`. '
        "Null means *not known*; it is never written as 0 or NaN. Times are UTC."
    )
    for table in TABLES.values():
        yield ""
        yield f"## {table.name}"
        yield ""
        yield f"One row: {table.grain}. Unique by {', '.join(f'`{name}`' for name in table.key)}."
        yield ""
        yield "| column | type | null | meaning |"
        yield "|---|---|---|---|"
        yield from (_row(column) for column in table.columns)


def _row(column: Column) -> str:
    words = f" ({', '.join(column.allowed)})" if column.allowed else ""
    return f"| `{column.name}` | {column.kind} | {'yes' if column.nullable else ''} | {column.doc}{words} |"


PAGES = {"docs/results.md": results_page, "docs/sandboxes.md": sandboxes_page}


def main() -> None:
    """Write or check every page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = []
    for name, page in PAGES.items():
        path = ROOT / name
        if check and (not path.exists() or path.read_text(encoding="utf-8") != page()):
            stale.append(name)
        elif not check:
            path.write_text(page(), encoding="utf-8")
            print(path.relative_to(ROOT))
    if stale:
        sys.exit(f"not current: {', '.join(stale)}; run `make docs`")


if __name__ == "__main__":
    main()
