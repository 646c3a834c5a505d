"""Notebooks of stored runs: which template, where the rows are as seen from the notebook, and executing it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilleval.app.kernel import executed, missing
from skilleval.config.settings import ReportSettings
from skilleval.errors import ConfigError, NotebookError, Problem, UsageError
from skilleval.report import WRITERS
from skilleval.report.document import Report
from skilleval.report.notebook.document import notebook_text
from skilleval.report.notebook.parameters import (
    BASELINE,
    CANDIDATE,
    OF_ONE,
    OF_SWEEP,
    OF_TWO,
    parameter_names,
    with_parameters,
)
from skilleval.report.notebook.shipped import COMPARE, SHIPPED, SUFFIX, fitting_template, shipped_template
from skilleval.report.notebook.template import Template, read_template
from skilleval.report.notebook.writer import render_with
from skilleval.results.store import MANIFEST, write_text
from skilleval.strict import nearest

log = logging.getLogger("skilleval.progress")

_COMMANDS = {
    OF_ONE: "skilleval report convert --input RUN --format notebook",
    OF_TWO: "skilleval diff A B --format notebook",
    OF_SWEEP: "skilleval sweep report SWEEP --format notebook",
}
"""What writes the notebooks that have these parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookOptions:
    """How notebooks are written: executed or not, by which template (null: the one that fits), from which folders."""

    execute: bool = True
    template: str | None = None
    folders: tuple[Path, ...] = ()

    @classmethod
    def of(cls, settings: ReportSettings) -> NotebookOptions:
        """Take them from the settings of a run."""
        folders = tuple(Path(folder) for folder in settings.templates)
        return cls(execute=settings.execute, template=settings.template, folders=folders)


def check_notebooks(formats: Iterable[str], options: NotebookOptions) -> None:
    """Refuse, before anything is run, notebooks that could not be made after it.

    Raises:
        ConfigError: the template is unknown or cannot be used.
        NotebookError: they are to be executed, and what that needs is not installed.
    """
    if not any(name in WRITERS and WRITERS[name].reads_rows for name in formats):
        if options.template is not None:
            log.warning(
                "no notebook is among report.formats: report.template=%s does nothing", options.template
            )
        return
    if options.template is not None:
        check_parameters(find_template(options.template, options.folders), OF_ONE)
    check_kernel(options)


def check_kernel(options: NotebookOptions, lacking: Sequence[str] | None = None) -> None:
    """Refuse to execute without a kernel.

    Raises:
        NotebookError: something is not installed; both ways out are named.
    """
    names = missing() if lacking is None else lacking
    if options.execute and names:
        unexecuted = "leave notebooks unexecuted: report.execute=false where a run is made, else --no-execute"
        hint = f"install it: pip install 'skilleval[notebook]'; or {unexecuted}"
        msg = f"a notebook cannot be executed without {' and '.join(names)}"
        raise NotebookError(msg, hint=hint)


def write_notebook(report: Report, path: Path, *, rows: Path, options: NotebookOptions) -> None:
    """Write the notebook of a run whose tables are in `rows`, then execute it.

    Raises:
        ConfigError: the template is unknown or cannot be used.
        NotebookError: it could not be executed; it is on disk all the same.
        WriteError: it could not be written.
    """
    template = find_template(options.template or fitting_template(report), options.folders)
    check_parameters(template, OF_ONE)
    _check_rows(rows)
    check_kernel(options)
    write_executed(path, render_with(report, template, folder=_seen_from(path, rows)), options)


def write_diff_notebook(path: Path, *, baseline: Path, candidate: Path, options: NotebookOptions) -> None:
    """Write the notebook that compares two stored runs (folders), then execute it.

    Raises:
        ConfigError: the template is unknown or cannot be used.
        UsageError: a side is no folder of a run: a JSON report holds no rows.
        NotebookError: it could not be executed; it is on disk all the same.
        WriteError: it could not be written.
    """
    template = find_template(options.template or COMPARE, options.folders)
    check_parameters(template, OF_TWO)
    for rows in (baseline, candidate):
        _check_rows(rows)
    check_kernel(options)
    places = {BASELINE: _seen_from(path, baseline), CANDIDATE: _seen_from(path, candidate)}
    about = {"template": template.name, "run_ids": [baseline.resolve().name, candidate.resolve().name]}
    write_executed(path, notebook_text(with_parameters(template, places), about=about), options)


def find_template(name: str, folders: Sequence[Path]) -> Template:
    """Find a template: the user's folders come first, in their order, then those that come with skilleval.

    Raises:
        ConfigError: there is none of that name, a folder is none, or the file cannot be used.
    """
    theirs = _theirs(folders)
    if name in theirs:
        try:
            text = theirs[name].read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            problem = Problem(where=str(theirs[name]), expected="a text file", found=str(error))
            raise ConfigError("a template cannot be read", problems=(problem,)) from None
        return read_template(text, name=name, where=str(theirs[name]))
    if name in SHIPPED:
        return shipped_template(name)
    known = sorted({*theirs, *SHIPPED})
    problem = Problem(
        where="config",
        key="report.template",
        expected=f"one of {', '.join(known)}",
        found=name,
        hint=nearest(name, known),
    )
    looked = ", ".join(map(str, folders)) or "none is named"
    hint = f"folders of your own, --templates or report.templates: {looked}"
    raise ConfigError("there is no such template of a notebook", problems=(problem,), hint=hint)


def _theirs(folders: Sequence[Path]) -> Mapping[str, Path]:
    found: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            problem = Problem(
                where="config",
                key="report.templates",
                expected="a folder with templates",
                found=str(folder),
            )
            raise ConfigError("there is no such folder of templates", problems=(problem,))
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            found.setdefault(path.name.removesuffix(SUFFIX), path)
    return found


def check_parameters(template: Template, needed: frozenset[str]) -> None:
    """Refuse a template of two runs or of a sweep for one run, and the other way round.

    Raises:
        ConfigError: it lacks the place of what the notebook is to be about.
    """
    names = parameter_names(template)
    if needed <= names:
        return
    problem = Problem(
        where=template.where, key="parameters", expected=" and ".join(sorted(needed)), found="not all of them"
    )
    command = next((command for kind, command in _COMMANDS.items() if kind <= names), None)
    hint = "" if command is None else f"it is for `{command}`"
    raise ConfigError(
        f"the template {template.name} is for another kind of notebook", problems=(problem,), hint=hint
    )


def _check_rows(rows: Path) -> None:
    if not (rows / MANIFEST).is_file():
        problem = Problem(where=str(rows), expected="the folder of a stored run", found=f"no {MANIFEST}")
        hint = "a notebook reads the tables of a run; a JSON report alone has none"
        raise UsageError("a notebook cannot be made of this", problems=(problem,), hint=hint)


def _seen_from(path: Path, rows: Path) -> str:
    return Path(os.path.relpath(rows.resolve(), path.resolve().parent)).as_posix()


def write_executed(path: Path, text: str, options: NotebookOptions) -> None:
    """Write a notebook as it stands, then what came of executing it, where that is wanted.

    Raises:
        NotebookError: a cell failed; the notebook stays on disk without outputs.
    """
    write_text(path, text)
    if not options.execute:
        return
    try:
        done = executed(text, folder=path.resolve().parent, watch=_tell)
    except NotebookError as error:
        error.hint = " ".join(filter(None, (error.hint, f"{path} is there, without outputs")))
        raise
    write_text(path, done)


def _tell(number: int, n: int, name: str) -> None:
    log.info("notebook: cell %d of %d (%s)", number, n, name)
