"""`skilleval` in a process of its own, without the seconds in which Python imports it.

What runs is a fork of a process that has imported the package (see `warm_server`). It cannot show what happens before
the import, nor after the last line of `main`: tests of start time, of signals while the program starts, of closed
streams or of Python's own environment variables start the installed script. So does a test of every command.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from types import TracebackType
from typing import Self

SCRIPT = Path(sys.executable).parent / "skilleval"
_TIMEOUT_S = 300
_SERVER = "import sys; sys.path[0] = sys.argv[1]; from warm_server import serve; serve(*sys.argv[2:])"
_CALLER = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({path!r})
    socket.send_fds(server, [b"."], [0, 1, 2])
    request = {{"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}}
    server.sendall(json.dumps(request).encode())
    server.shutdown(socket.SHUT_WR)
    code = int(server.recv(16))
sys.exit(code if code >= 0 else 128 - code)
"""


class WarmProgram:
    """Runs command lines, each in a fork of one process; that is started when it is first needed."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._folder.cleanup()

    def run(
        self, arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run one command line to its end.

        Raises:
            TimeoutError: it did not end; everything that was started here is killed.
        """
        request = {"arguments": list(arguments), "folder": str(folder), "environment": dict(environment)}
        with ExitStack() as stack:
            nothing = stack.enter_context(open(os.devnull, "rb"))  # noqa: PTH123 - Path.open is no shorter
            out, err = (stack.enter_context(TemporaryFile("w+", encoding="utf-8")) for _ in range(2))
            code = self._asked(json.dumps(request), [nothing.fileno(), out.fileno(), err.fileno()])
            texts = [(stream.seek(0), stream.read())[1] for stream in (out, err)]
        return subprocess.CompletedProcess(["skilleval", *arguments], code, *texts)

    def bin_folder(self) -> Path:
        """Give a folder for the PATH of a shell, with a `skilleval` that is this program."""
        self._start()
        caller = Path(self._folder.name) / "bin" / "skilleval"
        caller.parent.mkdir(exist_ok=True)
        caller.write_text(_CALLER.format(python=sys.executable, path=str(self._path)), encoding="utf-8")
        caller.chmod(0o755)
        return caller.parent

    @property
    def _path(self) -> Path:
        return Path(self._folder.name) / "socket"

    def _asked(self, request: str, streams: Sequence[int]) -> int:
        self._start()
        with socket.socket(socket.AF_UNIX) as server:
            server.settimeout(_TIMEOUT_S)
            server.connect(str(self._path))
            socket.send_fds(server, [b"."], streams)
            server.sendall(request.encode())
            server.shutdown(socket.SHUT_WR)
            try:
                return int(server.recv(16))
            except TimeoutError:
                self._stop()
                raise

    def _start(self) -> None:
        """Start the process unless it runs; it gets one thread where a library would start more."""
        if self._process is not None:
            return
        here = str(Path(__file__).parent)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER, here, str(self._path), str(SCRIPT)],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        ready = self._process.stdout.readline()
        assert ready, "the process has ended before it was ready: what it wrote to stderr says why"

    def _stop(self) -> None:
        """End the process, and with it whatever still runs in it."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
        self._process = None
        self._path.unlink(missing_ok=True)
