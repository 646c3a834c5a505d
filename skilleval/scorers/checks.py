"""What a task says of each single check it asks for: its id, its weight, and whether it has to pass."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from skilleval.scorers.base import Finding
from skilleval.scorers.values import is_number

MARKS = ("id", "weight", "required")


def about(item: Mapping[str, Any], finding: Finding, *, default_id: str, check: str) -> Finding:
    """Give a finding the id, weight and necessity that its check has in the task; what is not said stays as it is."""
    weight, required = item.get("weight"), item.get("required")
    is_weight = is_number(weight) and math.isfinite(weight) and weight >= 0  # type: ignore[arg-type, operator]
    return replace(
        finding,
        check_id=str(item.get("id", default_id)),
        check=check,
        weight=float(weight) if is_weight else finding.weight,  # type: ignore[arg-type]
        required=required if isinstance(required, bool) else finding.required,
    )
