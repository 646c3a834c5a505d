"""Ends and stops its parent, a bystander, and everything it can see; the last only where that is not the machine."""

import os
import signal
from functools import partial

from hostile.programs.stage import is_in_own_pid_namespace, managed, read_aims, say

aims = read_aims()
parent = os.getppid()
is_own = is_in_own_pid_namespace(aims)
for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
done = [] if is_own else managed({"the bystander": partial(os.kill, aims["bystander"], signal.SIGKILL)})
if is_own:
    managed({"all": lambda: os.kill(-1, signal.SIGKILL), "first": lambda: os.kill(1, signal.SIGKILL)})
else:
    done += managed(
        {
            "its parent, stopped": lambda: os.kill(parent, signal.SIGSTOP),
            "its parent": lambda: os.kill(parent, signal.SIGKILL),
        }
    )
say(*done)
