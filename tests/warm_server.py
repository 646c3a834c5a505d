"""The process behind `warm_program`: it has imported the package, listens at a socket, and forks for each command line.

A caller sends its three standard streams, then its command line, folder and environment; it gets the exit code. The
fork goes through `main` as the installed script does, in a folder, an environment and streams of its own.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from typing import Any

# What commands import late, besides the package's own modules.
_LATE = (
    "altair",
    "httpx",
    "hydra._internal.core_plugins.basic_sweeper",
    "hydra._internal.core_plugins.file_config_source",
    "hydra._internal.hydra",
    "jinja2",
    "pandera.backends.polars.builtin_checks",
    "pandera.polars",
    "polars",
    "rich.progress",
    "rich.table",
    "scipy.special",
    "vl_convert",
)
_N_STREAMS = 3


def serve(path: str, script: str) -> None:
    """Run every command line that is asked for at the socket, until stdin ends: whoever started this is gone then."""
    sys.path[0] = os.path.dirname(script)  # noqa: PTH120 - as Python sets it for the installed script
    _import_all()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as door, DefaultSelector() as selector:
        door.bind(path)
        door.listen()
        selector.register(door, EVENT_READ)
        selector.register(0, EVENT_READ)
        os.write(1, b"ready\n")
        while all(key.fileobj is door for key, _ in selector.select()):
            caller, _ = door.accept()
            with caller:
                if os.fork() == 0:
                    _attend(caller, script)
            _bury()


def _import_all() -> None:
    import skilleval

    found = pkgutil.walk_packages(skilleval.__path__, "skilleval.", onerror=lambda _: None)
    for name in (*_LATE, *(module.name for module in found)):
        with suppress(ImportError, SyntaxError):  # the command that needs it says so
            importlib.import_module(name)


def _bury() -> None:
    """Forget the forks that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _attend(caller: socket.socket, script: str) -> None:
    """Start the program for a caller, wait for it, and say how it ended."""
    _, streams, _, _ = socket.recv_fds(caller, 1, _N_STREAMS)
    with caller.makefile("rb") as sent:
        request = json.load(sent)
    child = os.fork()
    if child == 0:
        caller.close()
        _become(request, streams, script)
    for stream in streams:
        os.close(stream)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(BrokenPipeError):
        caller.sendall(b"%d" % code)
    os._exit(0)


def _become(request: Mapping[str, Any], streams: Sequence[int], script: str) -> None:
    """Be the program for one command line, and end as it ends."""
    from skilleval.__main__ import main

    code = 0
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    coding = sys.stdout.encoding
    sys.stdin = open(0, encoding=coding, closefd=False)  # noqa: SIM115 - these live as long as the process
    sys.stdout = open(1, "w", encoding=coding, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, coding, "backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(request["folder"])  # noqa: TID251 - this process is the program; it has a folder to be started in
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [script, *request["arguments"]]
    try:
        main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    # As at every end of Python, but for taking all modules apart: that would take longer than most commands.
    atexit._run_exitfuncs()  # noqa: SLF001 - there is no other door to it
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
