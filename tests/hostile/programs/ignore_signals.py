"""Ignores every signal that can be ignored and never answers."""

import signal
import time

from hostile.programs.stage import read_aims

read_aims()
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGALRM}:
    signal.signal(number, signal.SIG_IGN)
while True:
    time.sleep(1)
