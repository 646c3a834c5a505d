"""Writes many files of a modest size."""

import tempfile
from pathlib import Path

from hostile.programs.stage import MAX_BYTES_OF_FILES, read_aims, say

read_aims()
SIZE = 4 << 20
folder = Path(tempfile.mkdtemp())
n_files = 0
try:
    while n_files * SIZE < MAX_BYTES_OF_FILES:
        (folder / str(n_files)).write_bytes(b"x" * SIZE)
        n_files += 1
except OSError:
    say()
else:
    say(f"{n_files * SIZE} bytes of files")
