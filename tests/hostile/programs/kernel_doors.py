"""Opens what steers the machine for writing; it writes nothing there."""

import os
from functools import partial

from hostile.programs.stage import managed, read_aims, say

read_aims()
DOORS = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sysrq-trigger",
    "/proc/1/oom_score_adj",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/fs/cgroup/memory/cgroup.procs",
    "/sys/fs/cgroup/pids/cgroup.procs",
    "/sys/kernel/uevent_helper",
    "/dev/mem",
    "/dev/kmsg",
)


def opened(path: str) -> bool:
    """Open a door that is there; that is enough to know."""
    os.close(os.open(path, os.O_WRONLY))
    return True


say(*managed({path: partial(opened, path) for path in DOORS}))
