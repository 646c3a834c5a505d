"""Who watches a run: the progress on stderr, the event log, both or nobody."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli.console import PROGRESS
from skilleval.cli.events import EventLog, event_writer

if TYPE_CHECKING:
    from skilleval.app.evaluate import Outcome
    from skilleval.app.opening import OpenRun
    from skilleval.app.prepare import Prepared
    from skilleval.cli.console import Screen
    from skilleval.domain.records import TrialRecord
    from skilleval.domain.trials import Trial

PRETTY, JSONL, SILENT = "pretty", "jsonl", "silent"

_OPTIONS = (
    click.option("--quiet", is_flag=True, help="No progress; results and warnings only."),
    click.option(
        "--log-format",
        type=click.Choice([PRETTY, JSONL, SILENT]),
        default=PRETTY,
        help="pretty: progress; jsonl: an event a line on stderr or in --log-file; silent: nothing but errors.",
    ),
    click.option(
        "--log-file", type=click.Path(), metavar="FILE", help="Append events to FILE, as JSON lines."
    ),
)


def logging_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how it is watched."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """How a run is watched; `title` says what is going on, `file` gets the events whatever else is shown.

    `pid` is the process that was asked: a launcher carries the options to others.
    """

    title: str = "evaluating"
    format: str = PRETTY
    file: Path | None = None
    quiet: bool = False
    pid: int = field(default_factory=os.getpid)

    @property
    def shows_progress(self) -> bool:
        """Whether a person is told how far the run is."""
        return self.format == PRETTY and not self.quiet


def configure_logging(options: LogOptions) -> None:
    """Keep warnings from where nothing, or only JSON lines, may be written."""
    logger = logging.getLogger("skilleval")
    if not options.shows_progress:
        logging.getLogger(PROGRESS).setLevel(logging.WARNING)
    if options.format == SILENT:
        logger.setLevel(logging.ERROR)
    elif options.format == JSONL and options.file is None:
        for handler in logger.handlers:
            handler.setFormatter(_JsonLines())


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        event = {
            "ts": moment,
            "type": "log",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        return json.dumps(event, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Watchers:
    """Several observers as one."""

    observers: Sequence[Any]

    def __call__(self, record: TrialRecord) -> None:
        """Tell all of them of a finished trial."""
        for observe in self.observers:
            observe(record)

    def begun(self, trial: Trial) -> None:
        """Tell those who want to know that a trial begins."""
        for observe in self.observers:
            if isinstance(observe, EventLog):
                observe.begun(trial)

    def begin(self, title: str, total: int) -> None:
        """Tell those who show it that a further pass begins."""
        for observe in self.observers:
            if not isinstance(observe, EventLog):
                observe.begin(title, total)

    def end(self, outcome: Outcome) -> None:
        """Tell those who want to know how it ended."""
        for observe in self.observers:
            if isinstance(observe, EventLog):
                observe.end(outcome)


@contextmanager
def watching(options: LogOptions, screen: Screen, prepared: Prepared, run: OpenRun) -> Iterator[Watchers]:
    """Give the observer of a run that is open.

    Raises:
        WriteError: the event log cannot be written.
    """
    from skilleval.app.keys import build_redactor
    from skilleval.cli.console import progress

    with ExitStack() as stack:
        observers: list[Any] = []
        if options.shows_progress:
            shown = progress(screen, title=options.title, total=len(prepared.trials), done=run.left.n_kept)
            observers.append(stack.enter_context(shown))
        if options.file is not None or options.format == JSONL:
            write = stack.enter_context(event_writer(options.file))
            events = EventLog(write, prepared, build_redactor(prepared.settings, prepared.skills))
            events.start(run)
            observers.append(events)
        yield Watchers(observers)
