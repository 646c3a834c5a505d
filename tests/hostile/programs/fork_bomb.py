"""Starts processes that stay, as many as it can."""

import os
import time

from hostile.programs.stage import MAX_FORKS, read_aims, say

read_aims()
n_forks = 0
try:
    while n_forks < MAX_FORKS:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        n_forks += 1
except OSError:
    say()
else:
    say(f"{n_forks} processes at once")
