"""Never answers, in two processes: one of them in another session, without a mark and without a living parent."""

import os

from hostile.programs.stage import read_aims

aims = read_aims()
if os.fork() == 0:
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
os.execve("/bin/sleep", ["sleep", aims["nap"]], {})  # noqa: S606 - nobody's shell
