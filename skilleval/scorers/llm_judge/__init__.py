"""`llm_judge`: a model judges, by a list of assertions with quoted evidence, or by a rubric on a scale."""

from __future__ import annotations

from skilleval.scorers.llm_judge.asking import NO_JUDGES, Judges
from skilleval.scorers.llm_judge.options import LlmJudgeOptions
from skilleval.scorers.llm_judge.scorer import LlmJudgeScorer

__all__ = ["NO_JUDGES", "Judges", "LlmJudgeOptions", "LlmJudgeScorer"]
