"""Writes to stderr without end."""

import os

from hostile.programs.stage import read_aims

read_aims()
while True:
    os.write(2, b"x" * 65536)
