"""Scorers: rules that judge one attempt. A new one is a file here, a file in `conf/scorer/` and a line below."""

from __future__ import annotations

from typing import Any

from skilleval.sandboxes.base import Sandbox
from skilleval.scorers.base import Scorer
from skilleval.scorers.compat import CompatScorer
from skilleval.scorers.contains import ContainsScorer
from skilleval.scorers.custom import CustomScorer
from skilleval.scorers.exact import ExactScorer
from skilleval.scorers.json_schema import JsonSchemaScorer
from skilleval.scorers.numeric import NumericScorer
from skilleval.scorers.regex import RegexScorer

SCORERS: dict[str, Any] = {
    "exact": ExactScorer,
    "contains": ContainsScorer,
    "regex": RegexScorer,
    "json_schema": JsonSchemaScorer,
    "numeric": NumericScorer,
    "custom": CustomScorer,
    "compat": CompatScorer,
}
"""Kind → class with an `Options` model. The kind `task` is composed of these by the composition root."""


def build_scorer(kind: Any, options: Any, sandbox: Sandbox) -> Scorer:
    """Make a scorer of a registered class; one that runs programs says `needs_sandbox` and is given one."""
    scorer: Scorer = kind(options, sandbox) if getattr(kind, "needs_sandbox", False) else kind(options)
    return scorer
