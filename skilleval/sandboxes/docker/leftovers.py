"""Finds and removes containers that an evaluator left behind which is dead: killed by force, it could not do it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from skilleval.sandboxes.docker.blueprint import (
    NAMESPACE_LABEL,
    PID_LABEL,
    RUN_LABEL,
    STARTED_LABEL,
    own_namespace,
    started,
)
from skilleval.sandboxes.docker.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A container of ours: who made it, and whether that process still runs; null where nobody here can know."""

    container: str
    run: str
    pid: int
    is_in_use: bool | None


def find_containers(engine: Engine) -> tuple[Leftover, ...]:
    """Give all containers that any evaluator made and that are still there."""
    found = engine.labelled(RUN_LABEL)
    return tuple(_leftover(name, labels) for name, labels in sorted(found.items()))


def remove_leftovers(engine: Engine, *, even_unknown: bool = False) -> tuple[Leftover, ...]:
    """Remove the containers of dead evaluators, and give them; none of a living one is touched.

    Those of another machine or namespace are removed only if asked for: whether their evaluator lives is not known.
    """
    chosen = tuple(one for one in find_containers(engine) if is_forsaken(one, even_unknown=even_unknown))
    for one in chosen:
        engine.remove(one.container)
    return chosen


def is_forsaken(leftover: Leftover, *, even_unknown: bool) -> bool:
    """Say whether a container is to be removed."""
    return leftover.is_in_use is False or (even_unknown and leftover.is_in_use is None)


def _leftover(name: str, labels: Mapping[str, str]) -> Leftover:
    pid = labels.get(PID_LABEL, "")
    number = int(pid) if pid.isdecimal() else 0
    return Leftover(
        container=name, run=labels.get(RUN_LABEL, ""), pid=number, is_in_use=_is_in_use(number, labels)
    )


def _is_in_use(pid: int, labels: Mapping[str, str]) -> bool | None:
    namespace = labels.get(NAMESPACE_LABEL, "")
    if not namespace or namespace != own_namespace():
        return None
    return pid == os.getpid() or started(pid) == labels.get(STARTED_LABEL)
