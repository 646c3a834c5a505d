"""Stored reports in other formats."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from skilleval.app.analyse import analyse
from skilleval.app.evaluate import write_reports
from skilleval.app.notebooks import NotebookOptions, write_notebook
from skilleval.errors import ResultsError, UsageError
from skilleval.registry import part
from skilleval.report import WRITERS, Writer
from skilleval.report.document import Report, from_json
from skilleval.results.find import find_run
from skilleval.results.store import MANIFEST, write_text

log = logging.getLogger("skilleval.progress")

_SOON_S = 2.0
"""What takes no longer needs no word of what is being done."""


def convert_report(
    source: str,
    *,
    formats: Sequence[str],
    output: Path | None,
    store: Path,
    notebook: NotebookOptions | None = None,
) -> dict[str, Path]:
    """Write a stored run (folder, id, `latest`) or a JSON report in other formats.

    `output` is a folder, or a file where one format is asked for; default is beside the source.

    Raises:
        SkillevalError: the source is neither, a format is unknown, or one file was named for several formats.
    """
    writers = {name: part(WRITERS, name, key="--format", group="writers") for name in formats}
    if output is not None and output.suffix and not output.is_dir():
        return _one_file(source, writers, output, store=store, notebook=notebook)
    started = time.monotonic()
    report, beside = read_report(source, store)
    paths: dict[str, Path] = {}
    for name in sorted(writers, key=lambda one: writers[one].reads_rows):  # a notebook may fail to run
        if time.monotonic() - started > _SOON_S:
            log.info("writing %s (%d of %d)", name, len(paths) + 1, len(writers))
        paths |= write_reports(report, output or beside, [name], rows=beside, notebook=notebook)
    return paths


def _one_file(
    source: str,
    writers: Mapping[str, Writer[Report]],
    output: Path,
    *,
    store: Path,
    notebook: NotebookOptions | None,
) -> dict[str, Path]:
    """Write the one format that is asked for to the file that is named.

    Raises:
        UsageError: there are several, or the name says something else.
    """
    _check_output(output, writers)
    if len(writers) > 1:
        msg = f"--output {output} names one file, but {len(writers)} formats are asked for"
        raise UsageError(msg, hint="name a folder")
    report, beside = read_report(source, store)
    name, writer = next(iter(writers.items()))
    if writer.reads_rows:
        write_notebook(report, output, rows=beside, options=notebook or NotebookOptions())
    else:
        write_text(output, writer.render(report))
    return {name: output}


def read_report(source: str, store: Path) -> tuple[Report, Path]:
    """Read the report of a stored run (folder, id, `latest`) or a JSON report, and say where it stands.

    Raises:
        ResultsError: it is neither.
    """
    path = Path(source)
    if path.is_file():
        return from_json(_text(path), where=str(path)), path.parent
    folder = find_run(source, store)
    return analyse(folder), folder


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path} is no JSON report: {error}"
        raise ResultsError(msg) from None


def _check_output(output: Path, writers: Mapping[str, Writer[Report]]) -> None:
    """Refuse a file name that says something else than the format: it may be a file one wants to keep."""
    # The last part alone: `comment.md` is as good a name for a comment as `report.comment.md`.
    suffixes = {Path(f"report{writer.suffix}").suffix for writer in writers.values()}
    if output.suffix not in suffixes or output.name == MANIFEST:
        msg = f"--output {output} is no name for a report in {' and '.join(writers)}"
        raise UsageError(msg, hint=f"name a folder, or a file that ends in {' or '.join(sorted(suffixes))}")
