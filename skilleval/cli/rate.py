"""A share on the command line."""

from __future__ import annotations

import math
from typing import Any

import click


class Rate(click.FloatRange):
    """A number from 0 to 1; `nan`, which compares with nothing and would pass, is refused."""

    name = "rate"

    def __init__(self) -> None:
        super().__init__(min=0, max=1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the number."""
        rate = float(super().convert(value, param, ctx))
        if math.isnan(rate):
            self.fail(f"{value!r} is not in the range 0<=x<=1.", param, ctx)
        return rate
