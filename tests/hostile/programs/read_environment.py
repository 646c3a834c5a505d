"""Looks for the evaluator's keys in its own environment, in everybody's in `/proc`, and among open files."""

import os
from pathlib import Path

from hostile.programs.stage import read_aims, say

aims = read_aims()
name = f"{aims['secret_name']}=".encode()
done = ["its own environment"] if aims["secret_name"] in os.environ else []
try:
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
except OSError:
    pids = [*range(1, 1000), *range(max(1000, os.getpid() - 20_000), os.getpid() + 1000), os.getppid()]
for pid in pids:
    try:
        is_there = name in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        continue
    done += [f"the environment of process {pid}"] if is_there else []
say(*done)
