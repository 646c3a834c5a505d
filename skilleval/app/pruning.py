"""Removing what an evaluator left behind that was killed by force: its containers."""

from __future__ import annotations

from dataclasses import dataclass

from skilleval.errors import AdapterError
from skilleval.sandboxes.docker.engine import Engine, EngineError
from skilleval.sandboxes.docker.leftovers import Leftover, find_containers, is_forsaken


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """The containers that were to be removed, and those that stay."""

    engine: str
    removed: tuple[Leftover, ...]
    kept: tuple[Leftover, ...]


def prune_sandboxes(*, even_unknown: bool, dry_run: bool) -> Pruned:
    """Remove the containers of dead evaluators from the engine.

    Raises:
        AdapterError: no engine answers, or it cannot remove one.
    """
    engine = Engine()
    try:
        found = find_containers(engine)
        forsaken = tuple(one for one in found if is_forsaken(one, even_unknown=even_unknown))
        for one in () if dry_run else forsaken:
            engine.remove(one.container)
        kept = tuple(one for one in found if one not in forsaken)
        return Pruned(engine=engine.address, removed=forsaken, kept=kept)
    except EngineError as error:
        raise AdapterError(f"the engine at {engine.address} cannot be tidied up: {error}") from None
    finally:
        engine.close()
