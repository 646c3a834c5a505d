"""The journal: while a run lasts, each finished trial is one appended line of JSON.

A line is handed to the operating system before `write` returns, so it survives the death of the process. A line cut
off by a crash can only be the last one; readers drop it.
"""

from __future__ import annotations

import fcntl
import os
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from skilleval.clock import Clock
from skilleval.domain import TrialRecord
from skilleval.errors import ResultsError, WriteError
from skilleval.results.rows import RowBuilder, storable

CHUNK_BYTES = 16 * 1024 * 1024


class Journal:
    """An open journal; it is the runner's sink. One process at a time holds it."""

    def __init__(self, path: Path, rows: RowBuilder, clock: Clock) -> None:
        self.path = path
        self.write_ms = array("d")
        self._rows = rows
        self._clock = clock
        self._encode = msgspec.json.Encoder().encode
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            msg = f"cannot write {path}: {error.strerror}"
            raise WriteError(msg, hint="choose a writable folder with --output-dir or --store") from None
        if not _lock(self._fd):
            os.close(self._fd)
            msg = f"{path.parent} is in use by another process"
            raise ResultsError(msg, hint="wait for it, or choose another --output-dir")

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
        """Flush to the device and give the file free."""
        os.fsync(self._fd)
        os.close(self._fd)

    def _append(self, data: bytes) -> None:
        written = 0
        try:
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError as error:
            os.ftruncate(self._fd, os.fstat(self._fd).st_size - written)
            msg = f"cannot write {self.path}: {error.strerror}; what was finished before is kept"
            raise ResultsError(
                msg, hint="make room, then `skilleval report convert` reads what is there"
            ) from None


def _lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold a journal as if writing it; false if a live process holds it, or it is gone."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        # Gone meanwhile: another reader made tables of it while we waited for nothing.
        yield _lock(fd) and path.exists()
    finally:
        os.close(fd)


def read_chunks(path: Path, size: int = CHUNK_BYTES) -> Iterator[bytes]:
    """Read whole lines in chunks of about `size` bytes; a torn last line is left out."""
    rest = b""
    with path.open("rb") as file:
        while block := file.read(size):
            head, newline, tail = (rest + block).rpartition(b"\n")
            if newline:
                yield head + newline
            rest = tail
