"""Becomes the server of a skill: run as `python server_start.py LOG PROGRAM [ARGUMENT]…`.

A server outlives many trials, so what it prints goes to a file, of which only the end is ever read. The file is
opened for appending: it can be emptied while the server writes.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

NOT_FOUND = 127
"""The exit code where the program cannot be started."""


_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Send both outputs to the log and turn into the program."""
    log, *command = sys.argv[1:]
    if sys.platform == "linux":
        # A skilleval that is killed outright cannot end its servers: then the system does.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    try:
        os.execvp(command[0], command)  # noqa: S606 - starting what the skill names is the purpose
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        sys.exit(NOT_FOUND)


if __name__ == "__main__":
    main()
