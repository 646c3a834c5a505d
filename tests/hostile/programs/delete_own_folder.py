"""Deletes the folder it stands in."""

import shutil
from pathlib import Path

from hostile.programs.stage import read_aims, say

read_aims()
own = Path(__file__).parent
shutil.rmtree(own, ignore_errors=True)
say(*([] if Path(__file__).exists() else ["its own folder"]))
