"""Makes the files of a skill of an operation: its manifest, how it is driven, and a benchmark to start from."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

from skilleval.catalog.adapter_config import ADAPTER_CONFIG
from skilleval.catalog.create import STARTER, is_device
from skilleval.catalog.documents import key_path
from skilleval.catalog.openapi.document import ApiDocument, UnusableOperationError
from skilleval.catalog.openapi.media import JSON
from skilleval.catalog.openapi.operations import Operation
from skilleval.catalog.openapi.parameters import BODY
from skilleval.catalog.openapi.samples import NoSampleError, Sampler
from skilleval.catalog.openapi.schemas import DEFINITIONS, Schemas, says_nothing
from skilleval.catalog.skill_json import MANIFEST

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_FIRST_VERSION = "0.1.0"
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORD = re.compile(r"[^a-z0-9]+")
_SLUG_LENGTH = 60
_HASH_LENGTH = 8
_STARTER = "starter"
_MESSAGE_LENGTH = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFiles:
    """The JSON files of a skill by their paths in its folder; `to_edit` says what its author has to see to."""

    id: str
    label: str
    values: Mapping[str, Any]
    to_edit: tuple[str, ...] = ()


def skill_ids(operations: Iterable[Operation]) -> Mapping[str, str]:
    """Give each operation, by its label, an id that no other has: the word of its own id, else of method and path.

    Where two come to the same word, or nothing is left of one, a hash of method and path keeps them apart.
    """
    words = {one.label: _word(one.own_id or one.label) for one in operations}
    counts = Counter(words.values())
    return {label: _distinct(word, label, counts[word]) for label, word in words.items()}


def _word(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return _NO_WORD.sub("-", _WORD_START.sub("-", plain).lower())[:_SLUG_LENGTH].strip("-")


def _distinct(word: str, label: str, count: int) -> str:
    if word and count == 1 and not is_device(word):
        return word
    digest = hashlib.sha256(label.encode()).hexdigest()[:_HASH_LENGTH]
    return f"{word or 'operation'}-{digest}"


class SkillBuilder:
    """Makes skills of the operations of one document."""

    def __init__(self, document: ApiDocument) -> None:
        self._inputs = Schemas(document, is_input=True)
        self._outputs = Schemas(document, is_input=False)
        self._source = PurePath(document.where).name
        version = document.node("info", "version").value
        is_plain = isinstance(version, str) and _VERSION.fullmatch(version)
        self._version = version if is_plain else _FIRST_VERSION

    def skill(self, identity: str, operation: Operation) -> SkillFiles:
        """Make the files of a skill.

        Raises:
            UnusableOperationError: its answers cannot be judged.
            CatalogError: a schema is malformed.
        """
        answers, is_whole_answer = self._outputs.one(list(operation.answers))
        if says_nothing(answers, answers.get(DEFINITIONS, {})):
            raise UnusableOperationError("the schema of its answer accepts everything")
        inputs, is_whole_input = self._input_schema(operation)
        sample, doubts = _sample(operation, inputs)
        if not (is_whole_answer and is_whole_input):
            doubts = (*doubts, f"{MANIFEST}: a schema was too large, parts of it accept everything")
        about = {"source": self._source, "operation": operation.label}
        values = {
            MANIFEST: self._manifest(identity, operation, inputs, answers, about),
            ADAPTER_CONFIG: _adapter_config(operation),
            STARTER: _benchmark(identity, operation, sample, answers, about),
        }
        return SkillFiles(id=identity, label=operation.label, values=values, to_edit=doubts)

    def _input_schema(self, operation: Operation) -> tuple[dict[str, Any], bool]:
        required = [one.member for one in operation.parameters if one.is_required]
        shape = {
            "type": "object",
            **({"required": required} if required else {}),
            "properties": {},
            "additionalProperties": False,
        }
        schema, is_whole = self._inputs.closed(
            shape, {one.member: one.schema for one in operation.parameters}
        )
        properties = schema["properties"]
        for one in operation.parameters:
            if one.description and isinstance(properties[one.member], dict):
                properties[one.member] = {"description": one.description, **properties[one.member]}
        return schema, is_whole

    def _manifest(
        self,
        identity: str,
        operation: Operation,
        inputs: Mapping[str, Any],
        answers: Mapping[str, Any],
        about: Mapping[str, str],
    ) -> dict[str, Any]:
        return {
            "id": identity,
            "name": operation.name,
            "version": self._version,
            "description": operation.description,
            "tags": list(operation.tags),
            "inputSchema": inputs,
            "outputSchema": answers,
            "adapterType": "http",
            "entrypoint": operation.path,
            "metadata": {"openapi": dict(about)},
        }


def _adapter_config(operation: Operation) -> dict[str, Any]:
    headers = {"Content-Type": operation.sends, "Accept": operation.accepts}
    unusual = {name: kind for name, kind in headers.items() if kind not in {"", JSON}}
    return {
        "type": "http",
        **({"baseUrl": operation.address} if operation.address else {}),
        "method": operation.method,
        "parameters": {one.member: one.place() for one in operation.parameters},
        **({"headers": unusual} if unusual else {}),
        **(operation.auth.options() if operation.auth is not None else {}),
    }


def _benchmark(
    identity: str,
    operation: Operation,
    sample: Mapping[str, Any],
    answers: Mapping[str, Any],
    about: Mapping[str, str],
) -> dict[str, Any]:
    task = {
        "id": _STARTER,
        "description": f"{operation.label} answers as its document says",
        "inputData": sample,
        "expectedOutput": {"type": "json_schema", "schema": answers},
        "evaluator": {"type": "json_schema"},
        "tags": [_STARTER],
    }
    return {
        "id": f"{identity}-basic",
        "name": f"{operation.name}: {_STARTER}",
        "version": _FIRST_VERSION,
        "domain": "tool-use",
        "scoringMethod": "mean",
        "metadata": {"starter": True, "openapi": dict(about)},
        "tasks": [task],
    }


def _sample(operation: Operation, schema: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Give the least input that fits, with the examples of the document if they do, and what is doubtful about it."""
    tried = [_made_up(operation, schema, use_examples=use_examples) for use_examples in (True, False)]
    fitting = [(sample, doubts) for sample, doubts in tried if _misfit(sample, schema) is None]
    if fitting:
        return min(fitting, key=lambda one: len(one[1]))
    sample, _ = tried[0]
    return sample, (f"{STARTER}: {_misfit(sample, schema)}",)


def _made_up(
    operation: Operation, schema: Mapping[str, Any], *, use_examples: bool
) -> tuple[dict[str, Any], tuple[str, ...]]:
    sample: dict[str, Any] = {}
    sampler = Sampler(schema, use_examples=use_examples)
    for one in operation.parameters:
        if not one.is_required and one.where != BODY:
            continue
        if use_examples and one.examples:
            sample[one.member] = one.examples[0]
            continue
        with suppress(NoSampleError):  # what is missing is told as a misfit
            sample[one.member] = sampler.value(schema["properties"][one.member])
    patterns = tuple(f"{STARTER}: a text was made up that does not match {one}" for one in sampler.unmatched)
    return sample, patterns


def _misfit(sample: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """Say where an input does not fit; null where it does."""
    try:
        error = next(_validator()(schema).iter_errors(sample), None)
    except (RecursionError, ArithmeticError):
        return "the input cannot be held against its schema"
    if error is None:
        return None
    place = key_path(("inputData", *error.absolute_path))
    return f"no input could be made up that fits, {place}: {error.message[:_MESSAGE_LENGTH]}"


@cache
def _validator() -> type[Draft202012Validator]:
    """Give validators that matches no patterns, for those of a document may take for ever."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    passing = dict.fromkeys(("pattern", "patternProperties"), lambda *_: iter(()))
    remade = cast("Any", extend)(Draft202012Validator, validators=passing)
    return cast("type[Draft202012Validator]", remade)
