"""The lock of a run: one process at a time writes it or makes its tables; the death of the process frees it.

The lock is held on a file of its own in the run's folder, because every other file there is replaced by renaming.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from skilleval.errors import ResultsError, WriteError

LOCK = ".lock"
_N_TRIES = 15
"""A reader that asks whether a run is live holds its lock for an instant: it is tried so often, not so long, because
a busy machine may let all that time pass between two tries."""
_PAUSE_S = 0.02
_NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
"""What a file system answers that knows no locks, e.g. a network one that was mounted without them."""


class RunLock:
    """The right to write a run, until it is released or the process ends."""

    def __init__(self, folder: Path, *, may_go_on: bool = False) -> None:
        """Take the lock; `may_go_on` says whether the run has a plan that another session could complete.

        Raises:
            ResultsError: another process has it, or there is no such folder.
            WriteError: the folder cannot be written to.
        """
        self.folder = folder
        self._may_go_on = may_go_on
        self._fd = _opened(folder)
        if not _taken(self._fd):
            os.close(self._fd)
            msg = f"{folder} is in use by another process"
            raise ResultsError(msg, hint="wait for it, or stop it with Ctrl-C: what it has finished is kept")

    def check(self) -> None:
        """Check that the folder is still there.

        Raises:
            WriteError: somebody removed it or moved it away.
        """
        try:
            same = os.path.samestat(os.fstat(self._fd), (self.folder / LOCK).stat())
        except OSError:
            same = False
        if not same:
            msg = f"{self.folder} was removed or moved away while it was written"
            going_on = (
                "if it was moved, `skilleval eval --resume FOLDER` goes on with it where it is now; else "
            )
            hint = f"{going_on if self._may_go_on else ''}run again, in a folder that stays"
            raise WriteError(msg, hint=hint)

    def release(self) -> None:
        """Let others write; doing it again changes nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _opened(folder: Path) -> int:
    try:
        return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except FileNotFoundError:
        msg = f"{folder} is not there any more"
        raise ResultsError(msg) from None
    except OSError as error:
        msg = f"cannot write in {folder}: {error.strerror}"
        raise WriteError(msg, hint="make the folder writable, or copy the run to a place that is") from None


def _taken(fd: int) -> bool:
    for _ in range(_N_TRIES):
        if _locked(fd, fcntl.LOCK_EX):
            return True
        time.sleep(_PAUSE_S)
    return _locked(fd, fcntl.LOCK_EX)


def _locked(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        msg = f"the file system of this folder has no locks: {error.strerror}"
        hint = (
            "two processes could write one run: choose a folder on a local disk, or mount this one with locks"
        )
        raise WriteError(msg, hint=hint) from None
    return True


@contextmanager
def maybe_locked(folder: Path) -> Iterator[bool]:
    """Take the lock of a run if nobody has it; say whether that worked.

    Raises:
        WriteError: the folder cannot be written to.
    """
    fd = _opened(folder)
    try:
        yield _locked(fd, fcntl.LOCK_EX)
    finally:
        os.close(fd)


def is_locked(folder: Path) -> bool:
    """Say whether anybody holds the lock of a run, this process included; nobody can where there are no locks."""
    try:
        fd = os.open(folder / LOCK, os.O_RDONLY)
    except OSError:
        return False
    try:
        with suppress(WriteError):
            return not _locked(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)
    return False
