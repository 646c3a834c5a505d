"""Scorers: rules that judge one attempt. A new one is a file here, a file in `conf/scorer/` and a line below."""

from __future__ import annotations

from typing import Any

from skilleval.sandboxes.base import Sandbox
from skilleval.scorers.base import Scorer
from skilleval.scorers.compat import CompatScorer
from skilleval.scorers.contains import ContainsScorer
from skilleval.scorers.custom import CustomScorer
from skilleval.scorers.exact import ExactScorer
from skilleval.scorers.files import FilesScorer
from skilleval.scorers.json_schema import JsonSchemaScorer
from skilleval.scorers.labels import LabelsScorer
from skilleval.scorers.llm_judge import NO_JUDGES, Judges, LlmJudgeScorer
from skilleval.scorers.numeric import NumericScorer
from skilleval.scorers.regex import RegexScorer
from skilleval.scorers.script import ScriptScorer
from skilleval.scorers.tool_calls import ToolCallsScorer

SCORERS: dict[str, Any] = {
    "exact": ExactScorer,
    "contains": ContainsScorer,
    "regex": RegexScorer,
    "json_schema": JsonSchemaScorer,
    "numeric": NumericScorer,
    "custom": CustomScorer,
    "compat": CompatScorer,
    "llm_judge": LlmJudgeScorer,
    "tool_calls": ToolCallsScorer,
    "script": ScriptScorer,
    "files": FilesScorer,
    "labels": LabelsScorer,
}
"""Kind → class with an `Options` model. The kinds `task` and `evals` are composed of these by the composition root."""


def build_scorer(kind: Any, options: Any, sandbox: Sandbox, judges: Judges = NO_JUDGES) -> Scorer:
    """Make a scorer of a registered class.

    One that runs programs says `needs_sandbox` and is given one; one that asks models says `needs_judge` and is given
    those that the config names.
    """
    needs = {"needs_sandbox": sandbox, "needs_judge": judges}
    scorer: Scorer = kind(options, *(part for need, part in needs.items() if getattr(kind, need, False)))
    return scorer
