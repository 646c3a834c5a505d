"""Every exception that skilleval raises on purpose.

    SkillevalError                 exit code 2 unless stated
    ├── UsageError                 the command line asks for something impossible
    ├── ConfigError                a setting is unknown, missing or has a wrong value
    ├── CatalogError               a skill, benchmark, task or label file cannot be used
    ├── ResultsError               a stored run cannot be read
    │   ├── NoSuchRunError         the page of all runs has none of this key
    │   └── WriteError             results cannot be written (exit code 3)
    ├── NotebookError              a notebook cannot be executed (exit code 3)
    ├── AdapterError               an adapter or sandbox cannot start at all (exit code 3)
    │   └── SetupError             for want of a key, an address or an entrypoint that the user gives (exit code 2)
    └── UnforeseenError            a fault of ours, told without a traceback (exit code 3)

They are raised *before* the first trial. From the first trial on, a mishap is a row with a status, never an
exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake, said completely: where, what was expected, what was found, what to do.

    `where` is a file, an option or a config source; `key` is the dotted path inside it ("" for the whole).
    """

    where: str
    key: str = ""
    expected: str = ""
    found: str = ""
    hint: str = ""

    def __str__(self) -> str:
        """Give the problem as one readable line, e.g. `a.json: tasks[0].id: expected text, found 3 - fix it`."""
        place = f"{self.where}: {self.key}" if self.key else self.where
        parts = [f"expected {self.expected}"] if self.expected else []
        parts += [f"found {self.found}"] if self.found else []
        said = ", ".join(parts)
        line = f"{place}: {said}" if said else place
        # A hint that lists what is known says nothing new where the same list is what was expected.
        is_new = self.hint and self.hint.removeprefix("known: ") != self.expected.removeprefix("one of ")
        return f"{line} ({self.hint})" if is_new else line


class SkillevalError(Exception):
    """Base of all errors a user may see; it carries its exit code and, where known, the single problems."""

    exit_code = 2

    def __init__(self, message: str, *, problems: tuple[Problem, ...] = (), hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.problems = problems
        self.hint = hint

    def __str__(self) -> str:
        """Give the message, one line a problem, and the hint."""
        lines = [self.message, *(f"  {problem}" for problem in self.problems)]
        return "\n".join([*lines, self.hint] if self.hint else lines)

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling: sweep launchers carry errors between processes."""
        return (_rebuild, (type(self), self.message, self.problems, self.hint))


def _rebuild(
    kind: type[SkillevalError], message: str, problems: tuple[Problem, ...], hint: str
) -> SkillevalError:
    return kind(message, problems=problems, hint=hint)


class UsageError(SkillevalError):
    """The command line asks for something impossible."""


class ConfigError(SkillevalError):
    """A setting is unknown, missing or has a wrong value."""


class CatalogError(SkillevalError):
    """A skill, benchmark, task or label file cannot be used."""


class ResultsError(SkillevalError):
    """A stored run cannot be read."""


class NoSuchRunError(ResultsError):
    """The page of all runs has none of this key."""


class WriteError(ResultsError):
    """Results cannot be written: no room, no right, no folder."""

    exit_code = 3


class NotebookError(SkillevalError):
    """A notebook cannot be executed: a cell failed, or what executing needs is not installed."""

    exit_code = 3


class AdapterError(SkillevalError):
    """An adapter or sandbox cannot start at all."""

    exit_code = 3


class SetupError(AdapterError):
    """A model or skill cannot be called with what the user gave: a key, an address, an entrypoint is missing or wrong.

    No `ConfigError`, for the settings may be right: a job of a sweep can go on once the variable is exported.
    """

    exit_code = 2


class UnforeseenError(SkillevalError):
    """A fault of ours, told without a traceback."""

    exit_code = 3


class InterruptionsKept:
    """Goes on with a Ctrl-C that a library lost because its own `finally` tripped over it.

    OmegaConf's context managers read a variable there that an interruption kept from being set.
    """

    def __enter__(self) -> None:
        """Begin a block in which foreign code runs."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        """Look behind the exception that comes out of the block.

        Raises:
            KeyboardInterrupt: there is one.
        """
        if isinstance(error, Exception) and any(isinstance(one, KeyboardInterrupt) for one in _behind(error)):
            raise KeyboardInterrupt from None


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__context__
