"""Stored reports in other formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from skilleval.app.analyse import analyse
from skilleval.app.evaluate import write_reports
from skilleval.errors import ResultsError, UsageError
from skilleval.registry import part
from skilleval.report import WRITERS, Writer
from skilleval.report.document import Report, from_json
from skilleval.results.find import find_run
from skilleval.results.store import MANIFEST, write_text


def convert_report(
    source: str, *, formats: Sequence[str], output: Path | None, store: Path
) -> dict[str, Path]:
    """Write a stored run (folder, id, `latest`) or a JSON report in other formats.

    `output` is a folder, or a file where one format is asked for; default is beside the source.

    Raises:
        SkillevalError: the source is neither, a format is unknown, or one file was named for several formats.
    """
    writers = {name: part(WRITERS, name, key="--format", group="writers") for name in formats}
    report, beside = read_report(source, store)
    if output is None or output.is_dir() or not output.suffix:
        return write_reports(report, output or beside, list(writers))
    _check_output(output, writers)
    if len(writers) > 1:
        msg = f"--output {output} names one file, but {len(writers)} formats are asked for"
        raise UsageError(msg, hint="name a folder")
    name, writer = next(iter(writers.items()))
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


def _check_output(output: Path, writers: Mapping[str, Writer]) -> None:
    """Refuse a file name that says something else than the format: it may be a file one wants to keep."""
    # The last part alone: `comment.md` is as good a name for a comment as `report.comment.md`.
    suffixes = {Path(f"report{writer.suffix}").suffix for writer in writers.values()}
    if output.suffix not in suffixes or output.name == MANIFEST:
        msg = f"--output {output} is no name for a report in {' and '.join(writers)}"
        raise UsageError(msg, hint=f"name a folder, or a file that ends in {' or '.join(sorted(suffixes))}")
