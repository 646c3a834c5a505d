"""`json_schema`: the answer fits the JSON Schema that the task expects, as a process apart finds out."""

from __future__ import annotations

from skilleval.scorers.json_schema.scorer import JsonSchemaOptions, JsonSchemaScorer

__all__ = ["JsonSchemaOptions", "JsonSchemaScorer"]
