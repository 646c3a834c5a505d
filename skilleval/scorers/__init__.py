"""Scorers: rules that judge one attempt. A new one is a file here, a file in `conf/scorer/` and a line below."""

from __future__ import annotations

from typing import Any

from skilleval.scorers.contains import ContainsScorer
from skilleval.scorers.exact import ExactScorer

SCORERS: dict[str, Any] = {
    "exact": ExactScorer,
    "contains": ContainsScorer,
}
"""Kind → class with an `Options` model. The kind `task` is composed of these by the composition root."""
