"""Results of other tools as runs of ours. A new format is a module here and a line in `IMPORTERS`."""

from __future__ import annotations

from skilleval.results.importers.agent_skills_eval import AGENT_SKILLS_EVAL
from skilleval.results.importers.base import Importer
from skilleval.results.importers.eval_skills import REPORT
from skilleval.results.importers.eval_skills_store import STORE
from skilleval.results.importers.inspect_log import INSPECT
from skilleval.results.importers.rubrics import RUBRICS
from skilleval.results.importers.skill_creator import SKILL_CREATOR
from skilleval.results.importers.tau_bench import TAU_BENCH

IMPORTERS: tuple[Importer, ...] = (
    REPORT,
    STORE,
    TAU_BENCH,
    AGENT_SKILLS_EVAL,
    RUBRICS,
    INSPECT,
    SKILL_CREATOR,
)
"""In the order in which a path is held against them: what has marks of its own before what has only a layout."""

__all__ = ["IMPORTERS", "Importer"]
