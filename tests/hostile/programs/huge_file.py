"""Writes one file that never ends."""

import tempfile

from hostile.programs.stage import MAX_BYTES_OF_FILES, read_aims, say

read_aims()
n_bytes = 0
try:
    with tempfile.TemporaryFile(buffering=0) as file:
        while n_bytes < MAX_BYTES_OF_FILES:
            n_bytes += file.write(b"x" * (1 << 20))
except OSError:
    say()
else:
    say(f"a file of {n_bytes} bytes")
