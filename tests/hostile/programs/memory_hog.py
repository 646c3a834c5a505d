"""Takes memory and touches it."""

from hostile.programs.stage import MAX_BYTES_OF_MEMORY, read_aims, say

read_aims()
PIECE = 32 << 20
pieces: list[bytearray] = []
try:
    while len(pieces) * PIECE < MAX_BYTES_OF_MEMORY:
        pieces.append(bytearray(b"x") * PIECE)
except MemoryError:
    pieces.clear()
    say()
else:
    say("3 GiB of memory")
