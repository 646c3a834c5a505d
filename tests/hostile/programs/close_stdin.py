"""Closes its stdin before all of the request is read."""

import os

from hostile.programs.stage import say

os.read(0, 10)
os.close(0)
say()
