"""Burns all processors with several processes and never answers."""

import os

from hostile.programs.stage import read_aims

read_aims()
for _ in range(2):
    if os.fork() == 0:
        os.nice(19)  # on a busy machine the one that is watched comes first
        break
n = 0
while n < 10**11:
    n += 1
