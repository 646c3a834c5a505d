"""Sets limits, priorities and processors of its parent and of a bystander: a limit of CPU time would end them."""

import os
import resource
from functools import partial

from hostile.programs.stage import is_in_own_pid_namespace, managed, read_aims, say

aims = read_aims()
done = []
for who in (os.getppid(), aims["bystander"]):
    done += managed(
        {
            f"a limit of {who}": partial(resource.prlimit, who, resource.RLIMIT_CORE, (0, 0)),
            f"the priority of {who}": partial(os.setpriority, os.PRIO_PROCESS, who, 19),
            f"the processors of {who}": partial(os.sched_setaffinity, who, os.sched_getaffinity(0)),
            f"the schedule of {who}": partial(os.sched_setscheduler, who, os.SCHED_OTHER, os.sched_param(0)),
        }
    )
# In a table of processes of its own, what it finds there is a part of the sandbox.
say(*([] if is_in_own_pid_namespace(aims) else done))
