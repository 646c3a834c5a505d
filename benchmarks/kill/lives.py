"""Lives of `skilleval`: each is a process of its own that may be killed at any moment of it.

To make a thousand of them affordable, a launcher loads everything once and forks: what is killed is a real process
that runs the real command line, only its start is short. `--plain` starts the installed script each time instead.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LONGEST_S = 120.0
_BROKE = 70
"""The exit code of a process that did not come as far as its own."""
SCRIPT = Path(sys.executable).parent / "skilleval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a life ended: killed by us after some seconds, or by itself with an exit code."""

    killed: bool
    code: int
    seconds: float


class Launcher:
    """Starts lives one after the other; with `plain` each as the installed script."""

    def __init__(self, folder: Path, *, plain: bool) -> None:
        self._folder = folder
        self._environment = _environment(folder)
        self._plain = plain
        self._forker = None if plain else self._started()

    def _started(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(Path(__file__))],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def live(self, arguments: Sequence[str], *, kill_after_s: float | None) -> Ended:
        """Run a command line, and kill it after some seconds if it is still alive then."""
        limit_s = LONGEST_S if kill_after_s is None else kill_after_s
        log = self._folder / "log"
        if self._forker is None:
            return self._live_plainly(arguments, limit_s, log)
        assert self._forker.stdin
        assert self._forker.stdout
        order = {"arguments": list(arguments), "limit_s": limit_s, "log": str(log)}
        self._forker.stdin.write(json.dumps(order) + "\n")
        self._forker.stdin.flush()
        return Ended(**json.loads(self._forker.stdout.readline()))

    def _live_plainly(self, arguments: Sequence[str], limit_s: float, log: Path) -> Ended:
        started = time.monotonic()
        with log.open("ab") as said:
            process = subprocess.Popen(
                [str(SCRIPT), *arguments],
                cwd=self._folder,
                env=self._environment,
                stdout=said,
                stderr=said,
            )
        killed = _killed_after(process.pid, limit_s)
        return Ended(killed=killed, code=process.wait(), seconds=time.monotonic() - started)

    def said(self) -> str:
        """Give what all lives said, for a look after something went wrong."""
        return (self._folder / "log").read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        """End the process that forks."""
        if self._forker is not None:
            assert self._forker.stdin
            self._forker.stdin.close()
            self._forker.wait()


def _environment(folder: Path) -> dict[str, str]:
    """Give an environment without the user's own settings, in which the adapter of the study is found."""
    beside = str(Path(__file__).parent)
    # A second thread of a numeric library would make forking unsafe.
    return {
        **os.environ,
        "XDG_CONFIG_HOME": str(folder / "xdg"),
        "PYTHONPATH": beside,
        "OPENBLAS_NUM_THREADS": "1",
    }


def _killed_after(pid: int, limit_s: float) -> bool:
    """Wait for a process to end; kill it once its time is over, and say whether that was so."""
    handle = os.pidfd_open(pid)
    try:
        over, _, _ = select.select([handle], [], [], limit_s)
        if not over:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        return not over
    finally:
        os.close(handle)


def _fork_forever() -> None:
    """Serve orders from stdin until it closes. What the first life has loaded at its end is loaded before the next."""
    with tempfile.NamedTemporaryFile() as loaded:
        for number, line in enumerate(sys.stdin):
            order = json.loads(line)
            ended = _forked(order, Path(loaded.name))
            if number == 0:
                _load(Path(loaded.name).read_text(encoding="utf-8").split())
            sys.stdout.write(json.dumps(ended) + "\n")
            sys.stdout.flush()


def _load(modules: Sequence[str]) -> None:
    for name in modules:
        with suppress(ImportError):  # some are made at run time
            importlib.import_module(name)


def _forked(order: Mapping[str, Any], loaded: Path) -> dict[str, Any]:
    started = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _be_skilleval(order, loaded)
    killed = _killed_after(pid, order["limit_s"])
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return {"killed": killed, "code": code, "seconds": time.monotonic() - started}


def _be_skilleval(order: Mapping[str, Any], loaded: Path) -> None:
    """Become a process that runs one command line; never returns."""
    code = _BROKE
    try:
        said = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        for stream in (1, 2):
            os.dup2(said, stream)
        from skilleval.cli import run

        code = run(order["arguments"])
        sys.stdout.flush()
        if not loaded.stat().st_size:
            loaded.write_text("\n".join(name for name in sys.modules if name != "__main__"), encoding="utf-8")
    finally:
        if code == _BROKE:
            traceback.print_exc()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _fork_forever()
