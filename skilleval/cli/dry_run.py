"""What `--dry-run` says: how much a run would do, whom it would ask, and where its results would go."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilleval.app.prepare import Prepared
    from skilleval.chat.model import ChatModel


def dry_run_text(prepared: Prepared, facts: Mapping[str, Any]) -> str:
    """Say what was checked and what would be done; `facts` are those of the prepared run."""
    return "\n".join(
        [
            f"skills:     {', '.join(facts['skills'])}",
            f"benchmark:  {facts['benchmark']}",
            f"scorers:    {', '.join(facts['scorers'])}",
            *_asked(prepared),
            f"trials:     {amount(facts)}",
            f"duration:   at most {facts['longest_duration_s']:,.0f} s at concurrency {facts['concurrency']}",
            f"would go to {facts['output_dir']}",
            "Everything is valid; nothing was run and nothing was written.",
        ]
    )


def amount(facts: Mapping[str, Any]) -> str:
    """Count the trials and say what they are the product of, where they are: `12 = 1 × 2 × 2 × 3 (skills × arms × …)`.

    Cases that stand beside their skills are tried by that skill alone, so that skills are no factor there.
    """
    arms = {"arms": len(facts["modes"])} if len(facts["modes"]) > 1 else {}
    of_tasks = {**arms, "tasks": facts["n_tasks"], "repeats": facts["repeats"]}
    for factors in ({"skills": facts["n_skills"], **of_tasks}, of_tasks):
        if math.prod(factors.values()) == facts["n_trials"]:
            return f"{facts['n_trials']} = {' × '.join(map(str, factors.values()))} ({' × '.join(factors)})"
    return str(facts["n_trials"])


def _asked(prepared: Prepared) -> Iterator[str]:
    """Name the models that the trials and the checks would ask, and where."""
    from skilleval.app.prepare import CHAT

    models = prepared.models
    if CHAT in prepared.adapters and models.subject is not None:
        yield f"model:      {_named(models.subject)}"
    judges = [_named(one) for one in (models.judge, models.second_judge) if one is not None]
    if judges:
        yield f"judge:      {', '.join(judges)}"


def _named(model: ChatModel) -> str:
    return f"{model.model} at {model.endpoint}" if model.endpoint else model.model
