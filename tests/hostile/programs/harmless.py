"""Does what a skill should do: it answers."""

from hostile.programs.stage import read_aims, say

read_aims()
say()
