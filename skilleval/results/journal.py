"""The journal: while a run lasts, each finished trial is one appended line of JSON.

A line is handed to the operating system before `write` returns, so it survives the death of the process. A line cut
off by a crash can only be the last one; readers drop it.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from skilleval.clock import Clock
from skilleval.domain.records import TrialRecord
from skilleval.errors import ResultsError, WriteError
from skilleval.results.rows import RowBuilder, storable

CHUNK_BYTES = 16 * 1024 * 1024
_TAIL_BYTES = 64 * 1024


class Journal:
    """An open journal; it is the runner's sink. Who writes it holds the lock of its run.

    Each session of a run has a journal of its own, so that no line is ever written behind one that a crash cut off.
    `may_go_on` says whether the run has a plan that another session could complete.
    """

    def __init__(self, path: Path, rows: RowBuilder, clock: Clock, *, may_go_on: bool = True) -> None:
        self.path = path
        self.write_ms = array("d")
        self._rows = rows
        self._clock = clock
        self._way_on = f"go on with `skilleval eval --resume {path.parent}`" if may_go_on else "start again"
        self._encode = msgspec.json.Encoder().encode
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except FileExistsError:
            msg = f"{path} exists already: another process is writing this run"
            raise ResultsError(msg, hint="wait for it, or choose another --output-dir") from None
        except OSError as error:
            msg = f"cannot write {path}: {error.strerror}"
            raise WriteError(msg, hint="choose a writable folder with --output-dir or --store") from None

    def write(self, record: TrialRecord) -> None:
        """Append one trial; `write_ms` keeps how long that took, in order.

        Raises:
            WriteError: the disk took only a part; that part is removed again.
        """
        started = self._clock.monotonic()
        line = storable(self._rows.line(record), self._encode)
        self._append(line + b"\n")
        self.write_ms.append(self._clock.elapsed_ms(started))

    def close(self) -> None:
        """Flush to the device and close; doing it again changes nothing.

        Raises:
            WriteError: the device did not take it, or the file is gone.
        """
        if self._fd < 0:
            return
        try:
            os.fsync(self._fd)
            self._check()
        except OSError as error:
            raise self._lost(error.strerror or str(error)) from None
        finally:
            os.close(self._fd)
            self._fd = -1

    def _append(self, data: bytes) -> None:
        written = 0
        try:
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError as error:
            with suppress(OSError):  # a torn line at the end is known for what it is
                os.ftruncate(self._fd, os.fstat(self._fd).st_size - written)
            raise self._lost(error.strerror or str(error)) from None
        self._check()

    def _check(self) -> None:
        """Notice that somebody removed the file: writing goes on without a word, into nothing."""
        if os.fstat(self._fd).st_nlink == 0:
            msg = f"{self.path} was removed while it was written, with all that was finished"
            raise WriteError(msg, hint="run again, in a folder that stays")

    def _lost(self, why: str) -> WriteError:
        msg = f"cannot write {self.path}: {why}; what was finished before is kept"
        return WriteError(msg, hint=f"mend that, then {self._way_on}")


def read_chunks(path: Path, size: int = CHUNK_BYTES) -> Iterator[bytes]:
    """Read whole lines in chunks of about `size` bytes; a torn last line is left out."""
    rest = b""
    with path.open("rb") as file:
        while block := file.read(size):
            head, newline, tail = (rest + block).rpartition(b"\n")
            if newline:
                yield head + newline
            rest = tail


def torn_bytes(path: Path) -> int:
    """Count the bytes behind the last whole line."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        start = end
        while start > 0:
            size = min(_TAIL_BYTES, start)
            start = file.seek(start - size)
            found = file.read(size).rfind(b"\n")
            if found >= 0:
                return end - (start + found + 1)
    return end
