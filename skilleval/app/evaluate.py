"""One run, from prepared trials to tables, manifest and reports."""

from __future__ import annotations

import asyncio
import logging
import shlex
import signal
import threading
from array import array
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.app.analyse import analyse, graded_scores, trials_by_status
from skilleval.app.manifest import finished_manifest, first_manifest
from skilleval.app.prepare import Prepared
from skilleval.clock import Clock
from skilleval.outcome import ExitCode, Gate, run_exit_code
from skilleval.provenance import new_run_id
from skilleval.registry import part
from skilleval.report import WRITERS
from skilleval.report.columns import number
from skilleval.report.document import Report
from skilleval.results.journal import Journal
from skilleval.results.rows import RowBuilder
from skilleval.results.schema import TABLES
from skilleval.results.store import compact, create_run, journal_path, write_manifest, write_text
from skilleval.runner import Observer, Runner, RunnerOptions
from skilleval.scorers.panel import Panel

log = logging.getLogger(__name__)

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run left behind: where its tables and reports are, what they say, and the exit code."""

    exit_code: ExitCode
    run_id: str
    folder: Path
    reports: Mapping[str, Path]
    report: Report
    statuses: Mapping[str, int]

    def paths(self) -> list[tuple[str, Path]]:
        """Give everything that was written, with a label: the report to open first, then the tables."""
        reports = [
            ("report", self.reports[name]) for name in sorted(self.reports, key=lambda name: name != "html")
        ]
        return [*reports, *(("rows", self.folder / name) for name in TABLES)]

    def facts(self) -> dict[str, Any]:
        """Give the outcome as JSON: the one document of `--json`."""
        return {
            "exit_code": int(self.exit_code),
            "run_id": self.run_id,
            "run_dir": str(self.folder),
            "tables": {name: str(self.folder / name) for name in TABLES},
            "reports": {name: str(path) for name, path in self.reports.items()},
            "statuses": dict(self.statuses),
            "verdict": self.report.verdict.sentence,
            "summary": [dict(row) for row in self.report.summary],
        }


def evaluate(prepared: Prepared, *, observe: Observer, command: Sequence[str] = ()) -> Outcome:
    """Run all trials, keep every row, analyse and report.

    An interrupted run keeps what is done: its tables and reports cover the finished trials.

    Raises:
        ResultsError: the results cannot be written; what was finished before is kept.
    """
    clock = Clock()
    paths = prepared.settings.paths
    run_id = new_run_id(clock.utc())
    folder = create_run(Path(paths.store or paths.output_dir), run_id)
    first = first_manifest(prepared, run_id=run_id, started_at=clock.utc(), command=_line(command))
    write_manifest(folder, first)
    log.info("run %s: %d trials, rows in %s", run_id, len(prepared.trials), folder)
    try:
        return _run_and_report(prepared, folder, clock, first, observe)
    except KeyboardInterrupt:
        log.warning("finished trials are kept: skilleval report convert --input %s", folder)
        raise


def _run_and_report(
    prepared: Prepared, folder: Path, clock: Clock, first: Mapping[str, Any], observe: Observer
) -> Outcome:
    interrupted, write_ms = _run(prepared, folder, clock, first, observe)
    compact(folder, write_ms=write_ms)
    manifest = finished_manifest(
        prepared, first, statuses=trials_by_status(folder), ended_at=clock.utc(), interrupted=interrupted
    )
    write_manifest(folder, manifest)
    return _outcome(prepared, folder, manifest)


def _line(command: Sequence[str]) -> str:
    return shlex.join(["skilleval", *command])


def _run(
    prepared: Prepared, folder: Path, clock: Clock, manifest: Mapping[str, Any], observe: Observer
) -> tuple[bool, array[float]]:
    """Run the trials into the journal; say whether the user stopped them, and how long each line took to write."""
    rows = RowBuilder(run_id=manifest["run_id"], sweep_id=manifest["sweep_id"], redactor=prepared.redactor)
    journal = Journal(journal_path(folder), rows, clock)
    runner = Runner(
        adapters=prepared.adapters,
        judge=Panel(prepared.scorers),
        sink=journal,
        options=runner_options(prepared),
        clock=clock,
        observe=observe,
    )
    try:
        interrupted = _until_stopped(run_and_close(runner, prepared))
    finally:
        journal.close()
    return interrupted, journal.write_ms


def runner_options(prepared: Prepared) -> RunnerOptions:
    """Give the runner's share of the settings."""
    runner = prepared.settings.runner
    return RunnerOptions(
        concurrency=runner.concurrency,
        retries=runner.retries,
        backoff_base_s=runner.backoff_base_s,
        backoff_factor=runner.backoff_factor,
        backoff_max_s=runner.backoff_max_s,
        jitter=runner.jitter,
    )


async def run_and_close(runner: Runner, prepared: Prepared) -> None:
    """Run all trials, then give back what adapters and sandbox hold."""
    try:
        await runner.run(prepared.trials)
    finally:
        for adapter in prepared.adapters.values():
            await adapter.aclose()
        await prepared.sandbox.aclose()


def _until_stopped(work: Coroutine[Any, Any, None]) -> bool:
    """Do the work; true if Ctrl-C or a polite kill ended it early. Running trials are ended with it.

    Raises:
        KeyboardInterrupt: the user asked twice: then not even a report is made.
    """
    presses: list[signal.Signals] = []
    try:
        asyncio.run(_stoppable(work, presses))
    except (KeyboardInterrupt, asyncio.CancelledError):
        if len(presses) > 1:
            raise KeyboardInterrupt from None  # further signals stay unheard: they would only spoil the exit code
        if presses:  # only the main thread hears signals
            _hear_again()
        return True
    return False


async def _stoppable(work: Coroutine[Any, Any, None], presses: list[signal.Signals]) -> None:
    """Do the work until it is done or a signal comes; more signals wait until all processes are ended."""
    task = asyncio.ensure_future(work)
    if threading.current_thread() is not threading.main_thread():
        return await task
    loop = asyncio.get_running_loop()

    def stop(which: signal.Signals) -> None:
        presses.append(which)
        if len(presses) == 1:
            log.warning(
                "stopping: running skills are ended, what is finished is kept; once more skips the report"
            )
            task.cancel()

    for which in _SIGNALS:
        loop.add_signal_handler(which, stop, which)
    try:
        return await task
    finally:
        _hear_no_more(loop, after_stop=bool(presses))


def _hear_no_more(loop: asyncio.AbstractEventLoop, *, after_stop: bool) -> None:
    """Take our handlers off; after a stop, what is pressed while the loop closes goes nowhere instead of into it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    for which in _SIGNALS:
        loop.remove_signal_handler(which)
        if after_stop:
            signal.signal(which, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _hear_again() -> None:
    """Let signals mean again what they mean elsewhere."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for which in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(which, signal.SIG_DFL)


def _outcome(prepared: Prepared, folder: Path, manifest: Mapping[str, Any]) -> Outcome:
    """Analyse, report, and write the exit code into the manifest."""
    report = analyse(folder)
    settings = prepared.settings
    reports = write_reports(report, Path(settings.paths.output_dir) / folder.name, settings.report.formats)
    statuses = manifest["counts"]["by_status"]
    code = run_exit_code(
        statuses=statuses,
        n_graded=graded_scores(folder),
        completion_rates=[number(row, "completion_rate") for row in report.summary],
        gate=Gate(**settings.gate.model_dump()),
        interrupted=manifest["interrupted"],
    )
    write_manifest(folder, {**manifest, "exit_code": int(code)})
    return Outcome(
        exit_code=code,
        run_id=folder.name,
        folder=folder,
        reports=reports,
        report=report,
        statuses=statuses,
    )


def write_reports(report: Report, folder: Path, formats: Sequence[str]) -> dict[str, Path]:
    """Write a report in each format, as `report.<suffix>`."""
    paths = {}
    for name in dict.fromkeys(formats):
        writer = part(WRITERS, name, key="report.formats", group="writers")
        paths[name] = folder / f"report{writer.suffix}"
        write_text(paths[name], writer.render(report))
    return paths
