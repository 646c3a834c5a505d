"""Comparisons as files, in every format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skilleval.app.diffing import earlier_run
from skilleval.app.notebooks import NotebookOptions, write_diff_notebook
from skilleval.report.diff_document import Diff
from skilleval.report.diff_writers import DIFF_WRITERS
from skilleval.results.find import PREVIOUS, find_run
from skilleval.results.store import write_text


def write_diff(
    found: Diff, paths: Mapping[str, Path], *, runs: tuple[str, str], store: Path, notebook: NotebookOptions
) -> None:
    """Write a comparison in formats of ours; `runs` are baseline and candidate as they were named.

    A notebook comes last, for it may fail to run: all else is written then.

    Raises:
        UsageError: a notebook is asked for, but a side is a JSON report, which holds no rows.
        NotebookError: the notebook could not be executed; it is on disk all the same.
        WriteError: a file could not be written.
    """
    for name in sorted(paths, key=lambda one: DIFF_WRITERS[one].reads_rows):
        if DIFF_WRITERS[name].reads_rows:
            baseline, candidate = _folders(runs, store)
            write_diff_notebook(paths[name], baseline=baseline, candidate=candidate, options=notebook)
        else:
            write_text(paths[name], DIFF_WRITERS[name].render(found))


def _folders(runs: tuple[str, str], store: Path) -> tuple[Path, Path]:
    before, after = runs
    candidate = _folder(after, store)
    return earlier_run(candidate, store) if before == PREVIOUS else _folder(before, store), candidate


def _folder(reference: str, store: Path) -> Path:
    """Give the folder of a run; a file stays what it is, and is refused where rows are needed."""
    return Path(reference) if Path(reference).is_file() else find_run(reference, store)
