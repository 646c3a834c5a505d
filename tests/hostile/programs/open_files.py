"""Opens files and never closes them."""

import os

from hostile.programs.stage import read_aims, say

read_aims()
n_open = 0
try:
    while n_open < 15000:
        os.open("/dev/null", os.O_RDONLY)
        n_open += 1
except OSError:
    say()
else:
    say(f"{n_open} open files")
