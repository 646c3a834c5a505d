"""How a model judges: by what, on which scale, how often, and what it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from skilleval.strict import StrictModel

_Finite = Annotated[float, Field(allow_inf_nan=False)]


class LlmJudgeOptions(StrictModel):
    """`conf/scorer/llm_judge.yaml`."""

    rubric: str
    scale: Annotated[tuple[_Finite, _Finite], Field(strict=False)]
    min_score: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
    params: Mapping[str, Any]
    timeout_ms: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    repeats: Annotated[int, Field(ge=1, le=100)]
    swap_order: bool
    show_input: bool
    show_files: bool
    structured_output: bool

    @model_validator(mode="after")
    def _rising(self) -> LlmJudgeOptions:
        if self.scale[0] >= self.scale[1]:
            msg = "a scale whose second number is the larger one"
            raise ValueError(msg)
        return self
