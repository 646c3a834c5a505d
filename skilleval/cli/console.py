"""What a user sees: results on stdout, everything else on stderr."""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from skilleval.errors import WriteError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress

    from skilleval.domain.records import TrialRecord
    from skilleval.errors import SkillevalError
    from skilleval.runner import Observer

PROGRESS = "skilleval.progress"
"""The logger of steps that are told without -v too: the cells of a notebook."""

_PLAIN_EVERY_S = 5.0
_REFRESH_S = 0.1


def write_line(text: str) -> None:
    """Write to stdout. A reader who has gone (`| head`), or never was (`>&-`), is no error.

    Raises:
        WriteError: stdout cannot take it, e.g. a full disk.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
    except OSError as error:
        forget_stdout()
        msg = f"cannot write to stdout: {error.strerror}"
        raise WriteError(msg) from None


def occupy_closed_streams() -> None:
    """Let nothing be opened in the place of a standard stream that is closed: whatever is printed would go there."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest that is free, so this one


def hear_no_more() -> None:
    """Ignore Ctrl-C from now on: all is done, so it could only spoil the exit code or the last words."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def forget_stdout() -> None:
    """Let what is written to stdout from now on go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """How to talk to the user. What is `shared` has others write to it too: it shows lines, no bars."""

    json: bool = False
    color: bool = True
    verbose: bool = False
    shared: bool = False

    @property
    def width(self) -> int | None:
        """Columns of the terminal that shows results; null where they go to a file or a pipe."""
        console = self.stdout()
        return console.width if console.is_terminal else None

    def stdout(self) -> Console:
        """Open the console for results."""
        return self._console(stderr=False)

    def stderr(self) -> Console:
        """Open the console for progress and messages."""
        return self._console(stderr=True)

    def _console(self, *, stderr: bool) -> Console:
        from rich.console import Console

        force = False if self.shared else None
        return Console(stderr=stderr, no_color=not self.color, highlight=False, force_terminal=force)

    def say(self, text: str) -> None:
        """Print a line for people on stdout; nothing with `--json`."""
        if not self.json:
            write_line(text)

    def show(self, what: RenderableType) -> None:
        """Print something rich for people on stdout; nothing with `--json`."""
        if self.json:
            return
        write_line(self._rendered(what).rstrip("\n"))

    def _rendered(self, what: RenderableType) -> str:
        """Draw apart from stdout, for rich leaves with a code of its own if that is closed or full."""
        from rich.console import Console

        screen = self.stdout()
        page = io.StringIO()
        canvas = Console(
            file=page,
            width=screen.width,
            force_terminal=screen.is_terminal,
            no_color=not self.color,
            legacy_windows=False,
            highlight=False,
        )
        canvas.print(what, soft_wrap=not screen.is_terminal)  # a file or a pipe has no width to wrap at
        return page.getvalue()

    def document(self, value: object) -> None:
        """Print the one JSON document of `--json`."""
        if self.json:
            write_line(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=str))

    def error(self, error: SkillevalError) -> None:
        """Print an error: on stderr for people, as the document with `--json`."""
        self.document(
            {
                "error": error.message,
                "problems": [_problem_json(one) for one in error.problems],
                "hint": error.hint,
                "exit_code": error.exit_code,
            }
        )
        click.echo(
            f"{click.style('error:', fg='red', bold=True) if self.color else 'error:'} {error}", err=True
        )

    def configure_logging(self) -> None:
        """Send our own log to stderr: warnings, and with -v what is being done."""
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Lower())
        handler.addFilter(_Once())
        logger = logging.getLogger("skilleval")
        logger.handlers[:] = [handler]
        logger.setLevel(logging.INFO if self.verbose else logging.WARNING)
        logger.propagate = False
        logging.getLogger(PROGRESS).setLevel(logging.INFO)


class _Once(logging.Filter):
    """Lets a warning through once, however many jobs of a sweep have it."""

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        known = record.levelno >= logging.WARNING and message in self._said
        self._said.add(message)
        return not known


class _Lower(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return f"{record.levelname.lower()}: {record.getMessage()}{trace}"


def _problem_json(problem: object) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(problem)  # type: ignore[call-overload, no-any-return]


@contextmanager
def progress(screen: Screen, *, title: str, total: int, done: int = 0) -> Iterator[Observer]:
    """Show the progress of a run on stderr: a bar with rate and ETA on a terminal, else a line now and then.

    `done` trials were finished before. The observer can be told that a further pass begins.
    """
    if screen.stderr().is_terminal:
        with _bars(screen) as bars:
            yield _Bar(bars, title, total, done)
    else:
        yield _Lines(title, total, done)


def _bars(screen: Screen) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("ETA"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[troubles]}"),
    )
    return Progress(*columns, console=screen.stderr(), transient=True)


class _Bar:
    """Progress for terminals: a bar a pass."""

    def __init__(self, bars: Progress, title: str, total: int, done: int) -> None:
        self._bars = bars
        self.begin(title, total, done)

    def begin(self, title: str, total: int, done: int = 0) -> None:
        self._total = total
        self._tally = _Tally(done)
        self._task = self._bars.add_task(title, total=total, completed=done, rate="", troubles="")

    def __call__(self, record: TrialRecord) -> None:
        tally = self._tally
        if tally.add(record, every_s=_REFRESH_S) or tally.done == self._total:
            self._bars.update(
                self._task, completed=tally.done, rate=f"{tally.rate:,.1f}/s", troubles=tally.troubles
            )


class _Tally:
    """Counts finished trials and says when it is time to show them."""

    def __init__(self, done: int) -> None:
        self.done = self._before = done
        self._errors = 0
        self._started = self._shown = time.monotonic()

    def add(self, record: TrialRecord, *, every_s: float) -> bool:
        self.done += 1
        self._errors += record.attempt.status.value != "completed"
        now = time.monotonic()
        if now - self._shown < every_s:
            return False
        self._shown = now
        return True

    @property
    def rate(self) -> float:
        return (self.done - self._before) / max(time.monotonic() - self._started, 1e-9)

    @property
    def troubles(self) -> str:
        return f"{self._errors} not completed" if self._errors else ""


class _Lines:
    """Progress for logs: a line at the beginning and at the end of each pass, between them one every few seconds."""

    def __init__(self, title: str, total: int, done: int) -> None:
        self.begin(title, total, done)

    def begin(self, title: str, total: int, done: int = 0) -> None:
        self._title, self._total = title, total
        self._tally = _Tally(done)
        if done < total:  # the first trial may take minutes
            click.echo(f"{title}: {done}/{total} trials", err=True)

    def __call__(self, record: TrialRecord) -> None:
        tally = self._tally
        due = tally.add(record, every_s=_PLAIN_EVERY_S)
        if not due and tally.done != self._total:
            return
        left_s = (self._total - tally.done) / max(tally.rate, 1e-9)
        extra = f", {tally.troubles}" if tally.troubles else ""
        click.echo(
            f"{self._title}: {tally.done}/{self._total} trials, {tally.rate:,.1f}/s, ETA {left_s:.0f} s{extra}",
            err=True,
        )
