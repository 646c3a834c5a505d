"""The scorer: how an answer may be read, and what is told of those that do not fit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from skilleval.scorers.base import MISSING, Finding, ScorerInfo, ScoringRecord, ungraded
from skilleval.scorers.findings import decided, no_output, shown_output
from skilleval.scorers.json_schema.exchange import Check, Draft, UnusableSchemaError
from skilleval.scorers.json_schema.workers import errors_of
from skilleval.scorers.options import with_task_options
from skilleval.scorers.values import parts, shown, unwrapped
from skilleval.strict import StrictModel

_NAMED_ERRORS = 3
_ABOUT_TEXT = frozenset(
    {
        *("type", "const", "enum", "pattern", "minLength", "maxLength", "format", "contentEncoding"),
        *("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"),
    }
)
"""Keywords on the top level of a schema by which it may say something of a text."""


class JsonSchemaOptions(StrictModel):
    """`conf/scorer/json_schema.yaml`."""

    draft: Draft
    timeout_ms: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class JsonSchemaScorer:
    """Passes when the answer fits `expected.schema`; a text is read as JSON first.

    Each schema is on its own: an `$id` names nothing outside, and nothing is ever fetched. A schema that accepts or
    refuses everything, is malformed, or does not come to an end in time, leaves the task ungraded.
    """

    Options = JsonSchemaOptions

    def __init__(self, options: JsonSchemaOptions) -> None:
        self._options = options
        self.info = ScorerInfo(kind="json_schema", version="1", options=options.model_dump())

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give one finding with score 0 or 1; ungraded where the schema cannot judge."""
        if "schema" not in record.expected:
            return (ungraded("nothing to check: the task expects no `schema`"),)
        options = with_task_options(record, self.info.kind, self._options)
        try:
            return (await _finding(record.expected["schema"], record.output, options),)
        except UnusableSchemaError as error:
            return (ungraded(str(error)),)


async def _finding(schema: Any, output: Any, options: JsonSchemaOptions) -> Finding:
    if schema == {} or isinstance(schema, bool):
        always = "refuses" if schema is False else "accepts"
        raise UnusableSchemaError(f"the schema {shown(schema)} {always} every output: nothing to check")
    check = Check(
        schema=schema,
        draft=options.draft,
        readings=[] if output is MISSING or not isinstance(schema, Mapping) else [*_readings(output, schema)],
        n_errors=_NAMED_ERRORS + 1,
        timeout_ms=options.timeout_ms,
    )
    told = await errors_of(check)
    if output is MISSING:
        return no_output()
    if not told:
        return decided(passed=False, reason="the output is a text and no JSON", evidence=shown_output(output))
    if not told[-1]:
        return decided(passed=True)
    # The reading that comes nearest explains best what is wrong: few errors, and not at the root.
    nearest = min(told, key=lambda errors: (len(errors), errors[0].startswith("$:")))
    return decided(passed=False, reason=_listed(nearest), evidence=shown_output(output))


def _readings(output: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """Give what the schema may be about: the output whole, then unwrapped; a text as JSON, then as it is.

    A schema without `required` accepts any object, and one without `type` any text. So a wrapped answer counts whole
    only if the schema speaks of one of its keys, and a text as it is only if the schema can be about a text.
    """
    answer = unwrapped(output)
    if answer is output or not _texts(schema).isdisjoint(output):
        yield from _as_json(output, schema)
    if answer is not output:
        yield from _as_json(answer, schema)


def _texts(schema: Mapping[str, Any]) -> frozenset[str]:
    """Give every text that stands in a schema, as a key or as a value."""
    values = [*parts(schema)]
    keys = (key for value in values if isinstance(value, dict) for key in value)
    return frozenset((*keys, *(value for value in values if isinstance(value, str))))


def _as_json(answer: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    parsed = parsed_text(answer) if isinstance(answer, str) else answer
    if parsed is not MISSING:
        yield parsed
    if isinstance(answer, str) and schema.keys() & _ABOUT_TEXT:
        yield answer


def parsed_text(text: str) -> Any:
    """Read a text as JSON; `MISSING` where it is none (NaN and infinity are none)."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return MISSING


def _refuse(word: str) -> None:
    raise ValueError(word)


def _listed(errors: list[str]) -> str:
    more = " …" if len(errors) > _NAMED_ERRORS else ""
    return "; ".join(errors[:_NAMED_ERRORS]) + more
