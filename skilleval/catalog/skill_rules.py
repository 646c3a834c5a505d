"""The rules of the Agent Skills specification for frontmatter, as faults with a name each.

A fault is `fatal` where lenient clients leave the skill out too; with the others they load it and warn.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skilleval.catalog.rules import misspelt, said
from skilleval.errors import Problem

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_NAME_LENGTH = 64
_DESCRIPTION_LENGTH = 1024
_COMPATIBILITY_LENGTH = 500
_NAME = "lower-case letters, digits and single hyphens between them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A broken rule of the specification; `rule` is its name, e.g. `name-format`."""

    rule: str
    problem: Problem
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class _Fields:
    values: Mapping[str, Any]
    where: str

    def text(self, key: str) -> str:
        """Give a field as text; empty where it is absent, null or no text."""
        value = self.values.get(key)
        return "" if value is None or isinstance(value, dict | list) else str(value).strip()

    def has_parts(self, key: str) -> bool:
        """Say whether a list or a mapping stands where a text belongs."""
        return isinstance(self.values.get(key), dict | list)

    def fault(self, rule: str, key: str, expected: str, found: str, *, hint: str = "") -> Fault:
        """Make a fault of a field."""
        problem = Problem(where=self.where, key=key, expected=expected, found=found, hint=hint)
        return Fault(rule=rule, problem=problem, fatal=rule.startswith("description-m"))


def field_faults(values: Mapping[str, Any], *, where: str, folder_names: frozenset[str]) -> tuple[Fault, ...]:
    """Hold frontmatter against the specification; `folder_names` are those by which the folder is known."""
    fields = _Fields(values, where)
    return (
        *_unknown(fields),
        *_name_faults(fields, folder_names),
        *_description_faults(fields),
        *_compatibility_faults(fields),
        *_metadata_faults(fields),
        *_type_faults(fields),
    )


def _unknown(fields: _Fields) -> Iterator[Fault]:
    for key in fields.values:
        if key not in FIELDS:
            close = misspelt(key, FIELDS)
            hint = f"did you mean {close}?" if close else "what is your own belongs below metadata"
            yield fields.fault("unknown-key", key, "a key of the specification", said(key), hint=hint)


def _name_faults(fields: _Fields, folder_names: frozenset[str]) -> Iterator[Fault]:
    name = unicodedata.normalize("NFKC", fields.text("name"))
    if fields.has_parts("name"):
        yield fields.fault("name-type", "name", "a text", said(fields.values["name"]))
    elif not name:
        yield fields.fault("name-missing", "name", "a name", "nothing", hint="the name of the folder is used")
    else:
        if len(name) > _NAME_LENGTH:
            found = f"{len(name)} characters"
            yield fields.fault("name-length", "name", f"at most {_NAME_LENGTH} characters", found)
        if not _is_name(name):
            yield fields.fault("name-format", "name", _NAME, said(name))
        if name not in {unicodedata.normalize("NFKC", folder) for folder in folder_names}:
            expected = f"the name of the folder, {' or '.join(sorted(folder_names))}"
            yield fields.fault("name-dir-mismatch", "name", expected, said(name))


def _is_name(name: str) -> bool:
    has_hyphens_inside = not (name.startswith("-") or name.endswith("-") or "--" in name)
    return has_hyphens_inside and name == name.lower() and name.replace("-", "a").isalnum()


def _description_faults(fields: _Fields) -> Iterator[Fault]:
    description = fields.text("description")
    if fields.has_parts("description"):
        yield fields.fault("description-type", "description", "a text", said(fields.values["description"]))
    if not description:
        hint = "say what the skill does and when to use it"
        yield fields.fault("description-missing", "description", "a description", "nothing", hint=hint)
    elif len(description) > _DESCRIPTION_LENGTH:
        found = f"{len(description)} characters"
        expected = f"at most {_DESCRIPTION_LENGTH} characters"
        yield fields.fault("description-length", "description", expected, found)


def _compatibility_faults(fields: _Fields) -> Iterator[Fault]:
    if fields.has_parts("compatibility"):
        found = said(fields.values["compatibility"])
        yield fields.fault("compatibility-type", "compatibility", "a text", found)
    elif fields.values.get("compatibility") is not None:
        length = len(fields.text("compatibility"))
        if not 1 <= length <= _COMPATIBILITY_LENGTH:
            expected = f"1 to {_COMPATIBILITY_LENGTH} characters"
            yield fields.fault("compatibility-length", "compatibility", expected, f"{length} characters")


def _metadata_faults(fields: _Fields) -> Iterator[Fault]:
    metadata = fields.values.get("metadata")
    expected = "a mapping of texts"
    if "metadata" in fields.values and not isinstance(metadata, dict):
        yield fields.fault("metadata-type", "metadata", expected, said(metadata))
    elif metadata:
        nested = [key for key, value in metadata.items() if isinstance(value, dict | list)]
        if nested:
            key = f"metadata.{nested[0]}"
            yield fields.fault("metadata-type", key, expected, said(metadata[nested[0]]))


def _type_faults(fields: _Fields) -> Iterator[Fault]:
    for key, hint in (("license", ""), ("allowed-tools", "write them into one text, with spaces between")):
        if fields.has_parts(key):
            yield fields.fault(f"{key}-type", key, "a text", said(fields.values[key]), hint=hint)
