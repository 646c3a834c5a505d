"""`compat`: judges as the tool eval-skills does, edge cases included, to compare with its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated

import regex
from pydantic import Field

from skilleval.scorers.ajv import refusal
from skilleval.scorers.aside import aside
from skilleval.scorers.base import MISSING, Finding, ScorerInfo, ScoringRecord, ungraded
from skilleval.scorers.findings import decided, share_found, shown_output
from skilleval.scorers.javascript import as_text, printed, translated, trimmed
from skilleval.scorers.json_schema.exchange import Check, UnusableSchemaError
from skilleval.scorers.json_schema.scorer import parsed_text
from skilleval.scorers.json_schema.workers import errors_of
from skilleval.scorers.patterns import TimedSearch, UnusablePatternError, compiled
from skilleval.scorers.values import shown, unwrapped
from skilleval.strict import StrictModel


class CompatOptions(StrictModel):
    """`conf/scorer/compat.yaml`."""

    fallback: Annotated[str, Field(min_length=1)]
    timeout_ms: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class CompatScorer:
    """Applies the rule of the other tool for the evaluator a task names, else for `fallback`.

    Options of evaluators have no effect there, so they have none here. What is an error of the task there is
    ungraded here. Two schemas with one `$id` are such an error: the id stays with the task that is judged first,
    which is why this scorer, alone among all, remembers something.
    """

    Options = CompatOptions

    def __init__(self, options: CompatOptions) -> None:
        self._options = options
        self._schema_ids: dict[str, str] = {}
        self.info = ScorerInfo(kind="compat", version="1", options=options.model_dump())

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give one finding, whose check is the kind of evaluator."""
        kind = record.evaluator.kind if record.evaluator else self._options.fallback
        try:
            finding = await self._finding(kind, record)
        except (UnusableSchemaError, UnusablePatternError) as error:
            finding = ungraded(str(error))
        except RecursionError:
            finding = ungraded("the output is nested too deeply")
        return (replace(finding, check=kind),)

    async def _finding(self, kind: str, record: ScoringRecord) -> Finding:
        if kind == "exact":
            return _exact(record)
        if kind == "contains":
            return _contains(record)
        if kind == "regex":
            return await aside(partial(_regex, record, self._options.timeout_ms))
        if kind == "json_schema":
            self._claim_id(record)
            return await _schema(record, self._options.timeout_ms)
        return ungraded(
            f"compat has no rule for the evaluator {kind!r}; known: contains, exact, json_schema, regex"
        )

    def _claim_id(self, record: ScoringRecord) -> None:
        schema = record.expected.get("schema")
        schema_id = schema.get("$id") if isinstance(schema, Mapping) else None
        if (
            isinstance(schema_id, str)
            and self._schema_ids.setdefault(schema_id, record.task_id) != record.task_id
        ):
            owner = self._schema_ids[schema_id]
            raise UnusableSchemaError(f"the $id {schema_id} is taken by the schema of task {owner}")


def _exact(record: ScoringRecord) -> Finding:
    answer, expected = unwrapped(record.output), record.expected.get("value", MISSING)
    found, wanted = trimmed(printed(answer)), trimmed(printed(expected))
    return decided(passed=found == wanted, reason=f"expected {shown(wanted)}, found {shown(found)}")


def _contains(record: ScoringRecord) -> Finding:
    text = as_text(record.output).lower()
    keywords = [printed(keyword) for keyword in record.expected.get("keywords", ())]
    absent = [keyword for keyword in keywords if keyword.lower() not in text]
    return share_found(keywords, absent, noun="keywords", evidence=shown(text))


def _regex(record: ScoringRecord, timeout_ms: float) -> Finding:
    wanted: list[str] = list(record.expected.get("patterns", ()))
    if not wanted:
        return decided(passed=False, reason="no pattern is expected")
    text = as_text(record.output)
    search = TimedSearch(timeout_ms, int(regex.ASCII))
    absent = [pattern for pattern in wanted if not _matches(pattern, text, search)]
    return share_found(wanted, absent, noun="patterns", evidence=shown(text))


def _matches(pattern: str, text: str, search: TimedSearch) -> bool:
    """Search for a pattern; one that is none for JavaScript matches nothing, without a word."""
    program = translated(pattern)
    if program is None:
        return False
    try:
        compiled(program, int(regex.ASCII))
    except UnusablePatternError:
        return False
    return search.finds(program, text)


async def _schema(record: ScoringRecord, timeout_ms: float) -> Finding:
    schema = record.expected.get("schema")
    if schema is None or schema is False:
        return decided(passed=False, reason="no schema is expected")
    error = refusal(schema)
    if error:
        raise UnusableSchemaError(error)
    value = parsed_text(record.output) if isinstance(record.output, str) else record.output
    if value is MISSING:
        return decided(passed=False, reason="the output is not JSON")
    if schema is True:
        return decided(passed=True)
    check = Check(
        schema=schema, draft="7", readings=[value], n_errors=4, timeout_ms=timeout_ms, may_be_vacuous=True
    )
    (errors,) = await errors_of(check)
    return decided(passed=not errors, reason="; ".join(errors[:3]), evidence=shown_output(record.output))
