"""One run, from prepared trials to tables, manifest and reports."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilleval.app.analyse import analyse, graded_scores, last_end, loads, trials_by_status
from skilleval.app.collecting import sparing
from skilleval.app.manifest import finished_manifest
from skilleval.app.notebooks import NotebookOptions, write_notebook
from skilleval.app.opening import OpenRun, open_run
from skilleval.app.prepare import Prepared
from skilleval.app.pushing import send
from skilleval.app.recordings import FirstOf, awaiting_judge
from skilleval.app.reuse import past_of, remember
from skilleval.app.serial import SERIAL, measure_serially, unmeasured
from skilleval.app.spending import judge_errors, not_judged, spent
from skilleval.app.stopping import until_stopped
from skilleval.clock import Clock
from skilleval.config.settings import ReportSettings, Settings
from skilleval.errors import NotebookError
from skilleval.outcome import ExitCode, Gate, first_of, run_exit_code
from skilleval.registry import part
from skilleval.report import WRITERS
from skilleval.report.document import Report
from skilleval.report.standing import gate_rate
from skilleval.report.uplift import is_gated
from skilleval.results.journal import Journal
from skilleval.results.places import address_of, local_place
from skilleval.results.redaction import Redactor
from skilleval.results.rows import RowBuilder
from skilleval.results.schema import TABLES
from skilleval.results.store import compact, journal_path, write_manifest, write_text
from skilleval.runner import Observer, Past, Runner, RunnerOptions, Sink
from skilleval.scorers.panel import Panel
from skilleval.sharding import is_shard

log = logging.getLogger(__name__)


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

    @property
    def address(self) -> str | None:
        """Where the run is on an object store; null for one that is kept in its folder alone."""
        address = address_of(self.folder)
        return None if address is None else str(address)

    def facts(self) -> dict[str, Any]:
        """Give the outcome as JSON: the one document of `--json`."""
        return {
            "exit_code": int(self.exit_code),
            "run_id": self.run_id,
            "run_dir": str(self.folder),
            "address": self.address,
            "tables": {name: str(self.folder / name) for name in TABLES},
            "reports": {name: str(path) for name, path in self.reports.items()},
            "statuses": dict(self.statuses),
            "verdict": self.report.verdict.sentence,
            "summary": [dict(row) for row in self.report.summary],
        }


def evaluate(
    prepared: Prepared, *, observe: Observer, command: Sequence[str] = (), past: Past | None = None
) -> Outcome:
    """Run all trials, keep every row, analyse and report; with `runner.resume` only what an earlier run lacks.

    Trials that `past` remembers, or else the attempt cache, call no skill.

    Raises:
        ResultsError: the results cannot be written; what was finished before is kept.
    """
    with open_run(prepared, command=command, clock=Clock(), is_planned=past is None) as run:
        return carry_on(prepared, run, observe=observe, past=past)


def carry_on(prepared: Prepared, run: OpenRun, *, observe: Observer, past: Past | None = None) -> Outcome:
    """Run what an open run lacks, then analyse and report all of it.

    An interrupted run keeps what is done: its tables and reports cover the finished trials.

    Raises:
        ResultsError: the results cannot be written; what was finished before is kept.
    """
    try:
        outcome = _run_and_report(prepared, run, observe, past)
    except KeyboardInterrupt:
        log.warning("%s", run.way_on)
        raise
    if outcome.exit_code is ExitCode.BUDGET_SPENT:
        reason = prepared.models.meter.reason or ""
        log.warning("stopped early: %s", reason)
        log.warning("%s", run.more_than(reason.partition(":")[0]))
    elif outcome.exit_code is ExitCode.INTERRUPTED:
        log.warning("%s", run.way_on)
    return outcome


def _run_and_report(prepared: Prepared, run: OpenRun, observe: Observer, past: Past | None) -> Outcome:
    clock = Clock()
    with sparing():
        interrupted, journals = _run(prepared, run, clock, observe, past)
    compact(run.folder, write_ms=journals[-1].write_ms if journals else None, lock=run.lock)
    run.lock.check()
    manifest = finished_manifest(
        prepared,
        run.manifest,
        before=run.before,
        statuses=trials_by_status(run.folder),
        n_judge_errors=judge_errors(run.folder),
        n_not_judged=not_judged(run.folder),
        loads=loads(run.folder),
        ended_at=clock.utc() if journals or run.before is None else run.ended_at or last_end(run.folder),
        interrupted=interrupted or prepared.models.meter.has_stopped,
        stopped_by=prepared.models.meter.reason if prepared.models.meter.has_stopped else None,
    )
    write_manifest(run.folder, manifest)
    if prepared.settings.privacy.redact and manifest["privacy"]["n_redacted"] == 0:
        log.warning("no pattern of privacy.redact matched anything: check how it is quoted")
    remember(prepared.composed, run.folder, manifest, now=clock.utc())
    return conclude(prepared.settings, run.folder, manifest)


def _run(
    prepared: Prepared, run: OpenRun, clock: Clock, observe: Observer, past: Past | None
) -> tuple[bool, list[Journal]]:
    """Run the trials into journals; say whether the user stopped them. The last journal is not in the tables yet."""
    journals: list[Journal] = []

    def runner(past: Past | None, redactor: Redactor | None) -> Runner:
        ids = {key: run.manifest[key] for key in ("run_id", "sweep_id")}
        rows = RowBuilder(**ids, redactor=redactor)
        is_planned = run.manifest["plan_digest"] is not None
        journals.append(Journal(journal_path(run.folder), rows, clock, may_go_on=is_planned))
        return _runner(prepared, journals[-1], clock, observe, past)

    async def passes() -> None:
        if left.trials:
            await runner(past or _past(left, run), prepared.redactor).run(left.trials)
        if prepared.settings.runner.latency == SERIAL:
            _settle(run, journals)
            if unmeasured(run.folder, prepared.trials):
                # What is stored is redacted already: a second time would mark the marks and count them again.
                await measure_serially(runner(None, None), run.folder, prepared.trials)

    left = replace(prepared, trials=run.left.pending)
    usd, tokens = spent(run.folder)
    prepared.models.meter.start(usd=usd, tokens=tokens)
    try:
        return until_stopped(closing(prepared, passes())), journals
    finally:
        for journal in journals:
            journal.close()


def _past(left: Prepared, run: OpenRun) -> Past | None:
    """Give what is known of the trials that are left: attempts of this run that await a judge, and earlier runs."""
    return FirstOf.of(awaiting_judge(run.folder, run.left.to_judge), past_of(left))


def _settle(run: OpenRun, journals: Sequence[Journal]) -> None:
    """Make tables of what the first pass wrote: the second one reads them."""
    for journal in journals:
        journal.close()
        compact(run.folder, write_ms=journal.write_ms, lock=run.lock)


def _runner(prepared: Prepared, sink: Sink, clock: Clock, observe: Observer, past: Past | None) -> Runner:
    return Runner(
        adapters=prepared.adapters,
        judge=Panel(prepared.scorers),
        sink=sink,
        options=runner_options(prepared),
        clock=clock,
        observe=observe,
        past=past,
        is_over=prepared.models.meter.stops,
    )


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
    await closing(prepared, runner.run(prepared.trials))


async def closing(prepared: Prepared, work: Awaitable[None]) -> None:
    """Do the work, then give back what adapters and sandbox hold.

    One that cannot be closed keeps no other one open, and costs no result.
    """
    try:
        await work
    finally:
        adapters = prepared.adapters
        ends = await asyncio.gather(*(one.aclose() for one in adapters.values()), return_exceptions=True)
        # Adapters end their servers in the sandbox, so it goes last.
        parts = (prepared.models, prepared.sandbox)
        ends += await asyncio.gather(*(one.aclose() for one in parts), return_exceptions=True)
        for name, end in zip((*adapters, "models", prepared.sandbox.name), ends, strict=True):
            if end is not None:
                log.warning("%s could not be closed: %s: %s", name, type(end).__name__, end)


def conclude(settings: Settings, folder: Path, manifest: Mapping[str, Any]) -> Outcome:
    """Analyse, report, write the exit code into the manifest, and send it all where results are kept elsewhere.

    Raises:
        WriteError: something cannot be written, or was not sent.
    """
    report = analyse(folder)
    # A run that is gone on with may have been found from elsewhere; without a store of its own it is one folder.
    place = local_place(settings.paths.output_dir) / folder.name if settings.paths.store else folder
    reports, could_write = _written(report, place, folder, settings.report)
    statuses = manifest["counts"]["by_status"]
    compared = bool(report.uplift)
    code = run_exit_code(
        statuses=statuses,
        n_graded=graded_scores(folder),
        completion_rates=[gate_rate(row) for row in report.summary if is_gated(row, compared=compared)],
        gate=Gate(**settings.gate.model_dump(exclude={"rules"})),
        interrupted=manifest["interrupted"],
        n_judge_errors=judge_errors(folder),
        is_spent=manifest["stopped_by"] is not None,
        n_failed_checks=sum(check.failed for check in report.gates),
        is_share=is_shard(manifest),
    )
    code = first_of([code, could_write])
    write_manifest(folder, {**manifest, "exit_code": int(code)})
    send(folder)
    return Outcome(
        exit_code=code,
        run_id=folder.name,
        folder=folder,
        reports=reports,
        report=report,
        statuses=statuses,
    )


def _written(
    report: Report, place: Path, rows: Path, settings: ReportSettings
) -> tuple[dict[str, Path], ExitCode]:
    """Write all reports; a notebook that fails costs the run its exit code, and nothing else of what it found."""
    options = NotebookOptions.of(settings)
    try:
        return write_reports(report, place, settings.formats, rows=rows, notebook=options), ExitCode.OK
    except NotebookError as error:
        log.error("%s", error)  # noqa: TRY400 - told as any error of ours, without a traceback
        return paths_of(place, settings.formats), ExitCode.INFRASTRUCTURE


def paths_of(folder: Path, formats: Sequence[str]) -> dict[str, Path]:
    """Say where the report of each format goes: `report.<suffix>`."""
    writers = {name: part(WRITERS, name, key="report.formats", group="writers") for name in formats}
    return {name: folder / f"report{writer.suffix}" for name, writer in writers.items()}


def write_reports(
    report: Report,
    folder: Path,
    formats: Sequence[str],
    *,
    rows: Path | None = None,
    notebook: NotebookOptions | None = None,
) -> dict[str, Path]:
    """Write a report in each format, as `report.<suffix>`; `rows` is where its tables are, if not in the folder.

    Raises:
        NotebookError: the notebook, which comes last, could not be executed; everything is written all the same.
    """
    writers = {name: part(WRITERS, name, key="report.formats", group="writers") for name in formats}
    paths = paths_of(folder, formats)
    for name in sorted(writers, key=lambda one: writers[one].reads_rows):
        if writers[name].reads_rows:
            options = notebook or NotebookOptions()
            write_notebook(report, paths[name], rows=rows or folder, options=options)
        else:
            write_text(paths[name], writers[name].render(report))
    return paths
