"""Answers and ends, but leaves a process of another session that holds its pipes and bears no mark."""

import os

from hostile.programs.stage import read_aims, say

aims = read_aims()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve("/bin/sleep", ["sleep", aims["nap"]], {})  # noqa: S606 - nobody's shell
    os._exit(0)
say()
