"""The report of a sweep as files, in every format, in the folder of the sweep or where one wants them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from skilleval.app.notebooks import (
    NotebookOptions,
    check_kernel,
    check_parameters,
    find_template,
    write_executed,
)
from skilleval.errors import Problem, UsageError
from skilleval.report.notebook.parameters import OF_SWEEP
from skilleval.report.notebook.shipped import SWEEP_TEMPLATE
from skilleval.report.sweep_document import SweepReport
from skilleval.report.sweep_notebook import render_with
from skilleval.report.sweep_writers import SWEEP_WRITERS
from skilleval.results.store import write_text

_STEM = "report"


def sweep_paths(formats: Sequence[str], *, folder: Path, output: Path | None) -> dict[str, Path]:
    """Say which file each format goes to: into the folder of the sweep, another one, or the one file that is named.

    Raises:
        UsageError: a format is unknown, or one file is named for several formats or for another one.
    """
    unknown = [name for name in formats if name not in SWEEP_WRITERS]
    if unknown:
        expected = f"one of {', '.join(SWEEP_WRITERS)}"
        problems = tuple(Problem(where="--format", expected=expected, found=name) for name in unknown)
        raise UsageError("a sweep has no such format", problems=problems)
    if output is None or output.is_dir() or not output.suffix:
        return {name: (output or folder) / f"{_STEM}{SWEEP_WRITERS[name].suffix}" for name in formats}
    if len(formats) > 1:
        msg = f"--output {output} names one file, but {len(formats)} formats are asked for"
        raise UsageError(msg, hint="name a folder")
    suffix = SWEEP_WRITERS[formats[0]].suffix
    if output.suffix != suffix:
        msg = f"--output {output} is no name for a report in {formats[0]}"
        raise UsageError(msg, hint=f"name a folder, or a file that ends in {suffix}")
    return {formats[0]: output}


def write_sweep_report(
    report: SweepReport, paths: Mapping[str, Path], *, folder: Path, notebook: NotebookOptions
) -> None:
    """Write the report of a sweep in formats of ours; `folder` is that of the sweep.

    A notebook comes last, for it may fail to run: all else is written then.

    Raises:
        ConfigError: the template of the notebook is unknown or cannot be used.
        NotebookError: the notebook could not be executed; it is on disk all the same.
        WriteError: a file could not be written.
    """
    for name in sorted(paths, key=lambda one: SWEEP_WRITERS[one].reads_rows):
        if SWEEP_WRITERS[name].reads_rows:
            _write_notebook(report, paths[name], folder=folder, options=notebook)
        else:
            write_text(paths[name], SWEEP_WRITERS[name].render(report))


def _write_notebook(report: SweepReport, path: Path, *, folder: Path, options: NotebookOptions) -> None:
    template = find_template(options.template or SWEEP_TEMPLATE, options.folders)
    check_parameters(template, OF_SWEEP)
    check_kernel(options)
    seen = Path(os.path.relpath(folder.resolve(), path.resolve().parent)).as_posix()
    write_executed(path, render_with(report, template, folder=seen), options)
