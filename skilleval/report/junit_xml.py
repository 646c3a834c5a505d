"""JUnit XML as continuous integration reads it: suites of cases. Foreign text in it never becomes markup.

Hidden characters are spelled out, so that the file is always XML.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from skilleval.report.text import block, one_line
from skilleval.report.text import escaped as spelled

_TIME_LENGTH = len("2026-01-31T12:00:00")
_NOT_XML = re.compile("[\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How one case went: `kind` is `failure`, `error` or `skipped`, and empty where it passed."""

    name: str
    kind: str = ""
    message: str = ""
    text: str = ""


def document(suites: Iterable[str]) -> str:
    """Write the XML document of suites."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", *suites, "</testsuites>"]
    return "\n".join(lines) + "\n"


def suite(
    name: str, results: Sequence[CaseResult], *, started_at: str | None, properties: Mapping[str, str]
) -> str:
    """Write one suite; properties without a value are left out."""
    kinds = Counter(result.kind for result in results)
    counts = {"tests": len(results), "failures": kinds["failure"], "errors": kinds["error"]}
    attributes = {
        "name": name,
        **{key: str(n) for key, n in counts.items()},
        "skipped": str(kinds["skipped"]),
    }
    if started_at:
        attributes["timestamp"] = started_at[:_TIME_LENGTH]
    lines = [f"  <testsuite {_attributes(attributes)}>", "    <properties>"]
    lines += [
        f"      <property {_attributes({'name': key, 'value': value})}/>"
        for key, value in properties.items()
        if value
    ]
    lines += ["    </properties>", *(_case(name, result) for result in results), "  </testsuite>"]
    return "\n".join(lines)


def _case(suite_name: str, result: CaseResult) -> str:
    opened = f"    <testcase {_attributes({'name': result.name, 'classname': suite_name})}"
    if not result.kind:
        return f"{opened}/>"
    told = {"message": result.message}
    if result.kind != "skipped":
        told["type"] = result.kind
    text = escape(_sound(block(result.text)))
    return f"{opened}>\n      <{result.kind} {_attributes(told)}>{text}</{result.kind}>\n    </testcase>"


def _attributes(values: Mapping[str, str]) -> str:
    return " ".join(f"{key}={quoteattr(_sound(one_line(value)))}" for key, value in values.items())


def _sound(text: str) -> str:
    """Spell out what no XML document may hold and is not hidden anyway."""
    return _NOT_XML.sub(lambda match: spelled(match.group()), text)
