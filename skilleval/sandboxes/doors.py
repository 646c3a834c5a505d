"""The unix sockets at which programs without network are reached: short enough to be addresses, and never swapped."""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

LONGEST: Final = 100
"""Bytes that the path of a socket may have on every system we know; the kernel of Linux takes 107."""

_ELSEWHERE = ("/tmp", "/dev/shm")  # noqa: S108 - the folder itself is made anew, and ours alone
_RANDOM = "x" * 8
_LONGEST_NAME = "/socket"


def socket_folder(prefix: str) -> tempfile.TemporaryDirectory[str]:
    """Make a folder of ours alone for sockets: among the temporary files, or elsewhere where paths there are too long.

    Raises:
        OSError: there is no such place.
    """
    usual = tempfile.gettempdir()
    for place in (usual, *_ELSEWHERE):
        if len(os.fsencode(f"{place}/{prefix}{_RANDOM}{_LONGEST_NAME}")) <= LONGEST:
            with suppress(OSError):
                return tempfile.TemporaryDirectory(prefix=prefix, dir=place, ignore_cleanup_errors=True)
    raise OSError(errno.ENAMETOOLONG, "no folder for sockets with a short path: set TMPDIR to one", usual)


class Door:
    """A socket bound here, on which somebody else listens, to whom `descriptor` is handed over.

    Until then, and after their end, a connection is refused: nobody waits at it in vain.
    """

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.bind(str(path))
        except OSError as error:
            self._socket.close()
            raise OSError(error.errno or errno.EINVAL, str(error.strerror or error), str(path)) from None
        self.descriptor = self._socket.fileno()

    def close(self) -> None:
        """Give back our copy; the other one goes on."""
        self._socket.close()


class Pin:
    """Holds on to the file of a socket itself: `path` leads to it, whatever somebody puts into its old place.

    A server that may write where its socket lies could lay a link there, to a socket of this machine.

    Raises:
        OSError: there is nothing, or something that is no socket, such as a link.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = -1
        if sys.platform != "linux":
            raise OSError(errno.ENOTSUP, "only Linux can hold on to a socket", str(path))
        self._descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        if not stat.S_ISSOCK(os.fstat(self._descriptor).st_mode):
            self.close()
            raise OSError(errno.ENOTSOCK, os.strerror(errno.ENOTSOCK), str(path))
        self.path = Path(f"/proc/self/fd/{self._descriptor}")

    def close(self) -> None:
        """Let go; asked again, do nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
