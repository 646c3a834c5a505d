"""Holds values against a JSON Schema, each schema on its own: an `$id` names nothing outside, nothing is fetched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, cast

from jsonschema import FormatChecker
from jsonschema.exceptions import FormatError, SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import Draft7Validator, Draft202012Validator, extend, validator_for
from referencing.exceptions import Unresolvable
from referencing.jsonschema import EMPTY_REGISTRY

from skilleval.scorers.formats import FORMATS
from skilleval.scorers.json_schema.exchange import Draft, UnusableSchemaError
from skilleval.scorers.patterns import TimedSearch, UnusablePatternError
from skilleval.scorers.values import shown

_DEFAULT: Mapping[str, Any] = {"7": Draft7Validator, "2020-12": Draft202012Validator}
_LONGEST_MESSAGE = 160
_DATA = frozenset({"const", "enum", "default", "examples"})


class SchemaJudge:
    """Holds values against one schema.

    Raises:
        UnusableSchemaError: the schema is malformed, of an unknown draft or refers to something outside.
    """

    def __init__(self, schema: Any, draft: Draft) -> None:
        try:
            text = json.dumps(schema, ensure_ascii=False, allow_nan=False)
        except (ValueError, RecursionError) as error:
            raise UnusableSchemaError(f"malformed schema: {error}") from None
        self._validator = _validator(text, draft)

    @property
    def is_vacuous(self) -> bool:
        """Whether none of its keywords means anything in its draft, because they are misspelt or only remarks."""
        schema = cast("Mapping[str, Any]", self._validator.schema)
        return not schema.keys() & self._validator.VALIDATORS.keys()

    def errors(self, value: Any, search: TimedSearch, limit: int) -> list[str]:
        """Give the first errors of a value, each with its JSON path; empty where it fits."""
        validator = self._validator.evolve(format_checker=_Checker(search))
        try:
            return [_said(error) for error in islice(validator.iter_errors(value), limit)]
        except Unresolvable as error:
            raise UnusableSchemaError(
                f"the schema refers to something outside, which is not fetched: {error}"
            ) from None
        except RecursionError:
            raise UnusableSchemaError(
                "schema or output is nested too deeply, or the schema refers to itself"
            ) from None
        except (ArithmeticError, ValueError) as error:
            if isinstance(error, UnusablePatternError):
                raise
            raise UnusableSchemaError(f"the output cannot be held against the schema: {error}") from None


class _Checker(FormatChecker):
    """Checks formats, and carries the timed search to the keywords that match patterns."""

    def __init__(self, search: TimedSearch) -> None:
        super().__init__(formats=())
        self.search = search

    def check(self, instance: object, format: str) -> None:  # noqa: A002 - the name that the library calls
        accepts = FORMATS.get(format)
        if accepts is not None and isinstance(instance, str) and not accepts(instance):
            raise FormatError(f"{shown(instance, 80)} is not of the format {format}")


@lru_cache(maxsize=256)
def _validator(text: str, draft: Draft) -> Validator:
    schema = json.loads(text)
    kind = _kind(schema, draft)
    try:
        kind.check_schema(schema, format_checker=_Checker(TimedSearch(_CHECK_MS)))
    except SchemaError as error:
        raise UnusableSchemaError(f"malformed schema: {_said(error)}") from None
    except RecursionError:
        raise UnusableSchemaError("malformed schema: it is nested too deeply") from None
    _refuse_unsafe(schema, text)
    timed = {name: rule for name, rule in _TIMED.items() if name in kind.VALIDATORS}
    # A schema that still names its draft would be given to the library's own class, with patterns without a limit.
    bare = {name: value for name, value in schema.items() if name != "$schema"}
    remade = cast("Any", extend)(kind, validators=timed)
    return cast("Validator", remade(bare, registry=EMPTY_REGISTRY))


_CHECK_MS = 10_000.0
"""For the patterns of the meta-schemas, which are harmless."""


def _kind(schema: Any, draft: Draft) -> Any:
    if not isinstance(schema, dict):
        raise UnusableSchemaError(f"malformed schema: expected an object, found {shown(schema)}")
    if "$schema" not in schema:
        return _DEFAULT[draft]
    named = schema["$schema"]
    kind: Any = validator_for(schema, default=cast("Any", None)) if isinstance(named, str) else None
    if kind is None:
        raise UnusableSchemaError(f"unknown draft: $schema is {shown(named)}")
    return kind


def _refuse_unsafe(schema: dict[str, Any], text: str) -> None:
    if _names_draft_inside(schema):
        raise UnusableSchemaError("`$schema` inside a schema is not supported: one draft for the whole")
    if '"unevaluatedProperties":' in text and '"patternProperties":' in text:
        raise UnusableSchemaError(
            "`unevaluatedProperties` beside `patternProperties` cannot be checked within a time limit"
        )


def _names_draft_inside(schema: Mapping[str, Any]) -> bool:
    pending: list[Any] = [value for name, value in schema.items() if name not in _DATA]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            if isinstance(current.get("$schema"), str):
                return True
            pending.extend(value for name, value in current.items() if name not in _DATA)
        elif isinstance(current, list):
            pending.extend(current)
    return False


def _said(error: ValidationError | SchemaError) -> str:
    message = error.message
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[:_LONGEST_MESSAGE]}…"
    return f"{error.json_path}: {message}"


def _search(validator: Any) -> Callable[[str, str], bool]:
    return cast("_Checker", validator.format_checker).search.finds


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _search(validator)(pattern, instance):
        yield ValidationError(f"{shown(instance, 80)} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, rules: Mapping[str, Any], instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        finds = _search(validator)
        for pattern, rule in rules.items():
            for name in instance:
                if finds(pattern, name):
                    yield from validator.descend(instance[name], rule, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, rule: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict) or rule is True:
        return
    finds, patterns = _search(validator), schema.get("patternProperties", {})
    named = schema.get("properties", {})
    extras = [
        name for name in instance if name not in named and not any(finds(each, name) for each in patterns)
    ]
    if rule is False and extras:
        yield ValidationError(f"unexpected properties: {', '.join(shown(name, 60) for name in extras[:5])}")
    elif rule is not False:
        for name in extras:
            yield from validator.descend(instance[name], rule, path=name)


_TIMED: Mapping[str, Any] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}
"""The keywords that match patterns, remade so that they keep a time limit."""
