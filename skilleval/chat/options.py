"""What every model is told about itself, whatever provider gives access to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from skilleval.strict import StrictModel

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(StrictModel):
    """USD per million tokens; `cached_input` null: cached tokens cost as much as others."""

    input: _NotNegative
    output: _NotNegative
    cached_input: _NotNegative | None = None


class ModelOptions(StrictModel):
    """Name, parameters, limits and price of a model. Limits are those of this process.

    `params` go into every request as they are; what a task says itself wins. `retries` count for judges only: those of
    the subject are `runner.retries`. `price` null: the price table is asked; unknown there: the cost is null.
    """

    name: Annotated[str, Field(min_length=1)]
    params: Mapping[str, Any]
    requests_per_minute: _Positive | None
    tokens_per_minute: _Positive | None
    retries: Annotated[int, Field(ge=0)]
    price: Price | None
