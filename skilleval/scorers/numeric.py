"""`numeric`: the answer is the expected number, within a tolerance, however it is written."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field

from skilleval.scorers.base import MISSING, Finding, ScorerInfo, ScoringRecord, ungraded
from skilleval.scorers.findings import decided, no_output, shown_output
from skilleval.scorers.options import with_task_options
from skilleval.scorers.values import is_number, shown, unwrapped
from skilleval.strict import StrictModel

_THOUSANDS = r"[0-9]{1,3}(?:,[0-9]{3})++(?!,?[0-9])"
_DECIMALS = r"(?:\.[0-9]*+)?"
_EXPONENT = r"(?:[eE][-+−]?[0-9]++)?"

_PLAIN = re.compile(
    rf"([-+−]?)((?:{_THOUSANDS}|[0-9]++){_DECIMALS}|\.[0-9]++)({_EXPONENT})",
)
"""A text that is a number and nothing else: `29`, `29.`, `.50`, `1,234`, `1e3`."""

_INSIDE = re.compile(
    rf"""
    (?:(?<![\w.)])([-+−])[$€£¥]?)?   # a minus behind a word is a dash: 3-4 ends with 4
    (?<!\w)(?<![0-9]\.)              # never inside a word (H2O) or a version (1.2.3)
    (
        (?<![0-9],){_THOUSANDS}{_DECIMALS}
        | [0-9]++{_DECIMALS}
        | (?<!\.)\.[0-9]++
    )
    ({_EXPONENT})
    (?!\.?[0-9])
    """,
    re.VERBOSE,
)
"""A number inside a text. Every match has a digit; 1,234 is one number, 1,2 are two. Takes linear time."""

_LONGEST_NUMBER = 400
"""Characters: as long as the largest float written out; more is no measurement, and costs time to compare."""


class NumericOptions(StrictModel):
    """`conf/scorer/numeric.yaml`."""

    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    rel_tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    strip_units: bool


class NumericScorer:
    """Passes when the number of the answer lies within the tolerance of `expected.value`.

    The larger of `tolerance` and `rel_tolerance` times the expected number counts. Decimal numbers are compared as
    they are written, without rounding: 29.1 lies within 0.1 of 29. `true` is no number, NaN and infinity are none.
    """

    Options = NumericOptions

    def __init__(self, options: NumericOptions) -> None:
        self._options = options
        self.info = ScorerInfo(kind="numeric", version="1", options=options.model_dump())

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give one finding with score 0 or 1; ungraded where no number is expected."""
        if "value" not in record.expected:
            return (ungraded("nothing to check: the task expects no `value`"),)
        options = with_task_options(record, self.info.kind, self._options)
        expected = _expected_number(record.expected["value"], strip_units=options.strip_units)
        if expected is None:
            return (ungraded(f"the expected value {shown(record.expected['value'])} is not one number"),)
        return (_finding(record, expected, options),)


def _finding(record: ScoringRecord, expected: Fraction, options: NumericOptions) -> Finding:
    if record.output is MISSING:
        return no_output()
    answer = unwrapped(record.output)
    found = _number(answer, strip_units=options.strip_units)
    if found is None:
        return decided(passed=False, reason=f"no number in the output {shown_output(answer)}")
    allowed = max(_exact(options.tolerance), _exact(options.rel_tolerance) * abs(expected))
    reason = f"expected {shown(record.expected['value'])}, found {_said(found)}"
    return decided(passed=abs(found - expected) <= allowed, reason=reason, evidence=shown_output(answer))


def _expected_number(value: Any, *, strip_units: bool) -> Fraction | None:
    """Read what is expected; a text with two numbers says nothing clear."""
    if isinstance(value, str) and strip_units:
        matches = list(_INSIDE.finditer(value))
        return _parsed(matches[0]) if len(matches) == 1 else None
    return _number(value, strip_units=strip_units)


def _number(value: Any, *, strip_units: bool) -> Fraction | None:
    """Give the number a value is or, with `strip_units`, the last one in its text; null where there is none."""
    if is_number(value):
        return _exact(value) if _is_measurable(value) else None
    if not isinstance(value, str):
        return None
    match = _last_inside(value) if strip_units else _PLAIN.fullmatch(value.strip())
    return _parsed(match) if match else None


def _last_inside(text: str) -> re.Match[str] | None:
    last = None
    for match in _INSIDE.finditer(text):
        last = match
    return last


def _parsed(match: re.Match[str]) -> Fraction | None:
    sign, digits, exponent = (part or "" for part in match.groups())
    text = f"{sign}{digits}{exponent}".replace(",", "").replace("−", "-")
    if len(text) > _LONGEST_NUMBER or not math.isfinite(float(text)) or _exponent(exponent) > _LONGEST_NUMBER:
        return None
    return Fraction(text)


def _exponent(text: str) -> int:
    digits = text.lstrip("eE+-−")
    return int(digits) if digits else 0


def _is_measurable(value: float) -> bool:
    """Refuse NaN, infinity and whole numbers beyond the largest float."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _exact(value: float) -> Fraction:
    """Take a number as it is written: 0.1 is a tenth, not the nearest binary fraction."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def _said(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else repr(float(number))
