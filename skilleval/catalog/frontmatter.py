"""Takes a `SKILL.md` apart: YAML frontmatter between two lines `---`, then the body.

Clients read frontmatter leniently, the specification does not: whatever only some of them accept is a fault that is
not fatal, and the caller decides which faults stop him.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilleval.catalog.rules import said
from skilleval.catalog.skill_rules import Fault, field_faults
from skilleval.catalog.yaml_text import WrittenYaml, written_yaml
from skilleval.errors import CatalogError, Problem

_BOM = b"\xef\xbb\xbf"
_KEPT_LENGTH = 60
_FORM = "a SKILL.md begins with frontmatter: ---, name: …, description: …, ---"
_UNQUOTED = re.compile(r"^([\w-]+:[ \t]+)([^\s\"'|>\[{&*!#%@`].*?)[ \t]*$")
"""A key at the edge with a plain value behind it on the same line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillText:
    """A `SKILL.md` as it was read: `values` of the frontmatter as written, and what breaks the specification."""

    values: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""
    faults: tuple[Fault, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Parts:
    frontmatter: str
    body: str


def read_skill_text(file: Path) -> SkillText:
    """Read a `SKILL.md`; whatever is wrong with it is a fault of the result.

    Raises:
        OSError: the file cannot be read.
    """
    where = str(file)
    data = file.read_bytes()
    text, faults = _decoded(data, where)
    remarks = ["begins with a byte order mark, which some readers refuse"] if data.startswith(_BOM) else []
    remarks += ["has CRLF line ends, read as LF"] if "\r\n" in text else []
    parts = _parted(text.replace("\r\n", "\n"), where)
    if isinstance(parts, Fault):
        return SkillText(faults=(*faults, parts), remarks=tuple(remarks))
    values, more = _values(parts.frontmatter, where, _names(file.parent))
    found = tuple(f"{where}: {remark}" for remark in remarks)
    return SkillText(values=values, body=parts.body.strip(), faults=(*faults, *more), remarks=found)


def _names(folder: Path) -> frozenset[str]:
    """Give the names of a folder: as it was written and, where a link or a dot was, its own."""
    return frozenset({folder.resolve().name, folder.name} - {"", ".", ".."})


def _decoded(data: bytes, where: str) -> tuple[str, tuple[Fault, ...]]:
    try:
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = _fatal(
            "encoding", where, line, expected="UTF-8 text", found=f"byte 0x{data[error.start]:02x}"
        )
        return data.decode("utf-8-sig", errors="replace"), (fault,)


def _fatal(rule: str, where: str, line: int, *, expected: str, found: str) -> Fault:
    hint = _FORM if rule == "frontmatter-missing" else ""
    problem = Problem(where=where, key=f"line {line}", expected=expected, found=found, hint=hint)
    return Fault(rule=rule, problem=problem, fatal=True)


def _parted(text: str, where: str) -> _Parts | Fault:
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        found = said(lines[0][:_KEPT_LENGTH]) if text.strip() else "an empty file"
        return _fatal("frontmatter-missing", where, 1, expected="a line ---", found=found)
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == "---":
            return _Parts("\n".join(lines[1:number]), "\n".join(lines[number + 1 :]))
    return _fatal(
        "frontmatter-unclosed", where, len(lines), expected="a second line ---", found="the end of the file"
    )


def _values(
    text: str, where: str, folder_names: frozenset[str]
) -> tuple[Mapping[str, Any], tuple[Fault, ...]]:
    read = _parsed(text, where)
    if isinstance(read, Fault):
        mended = _parsed(_quoted(text), where)
        if isinstance(mended, Fault) or not isinstance(mended.value, dict):
            return {}, (read,)
        faults = field_faults(mended.value, where=where, folder_names=folder_names)
        return mended.value, (_mendable(read), *(fault for fault in faults if fault.fatal))
    if not isinstance(read.value, dict):
        found = "nothing" if read.value is None else said(read.value)
        return {}, (_fatal("frontmatter-not-mapping", where, 2, expected="keys with values", found=found),)
    faults = field_faults(read.value, where=where, folder_names=folder_names)
    return read.value, (*_repeated(read, where), *faults)


def _parsed(text: str, where: str) -> WrittenYaml | Fault:
    try:
        return written_yaml(text, where=where, first_line=2)
    except CatalogError as error:
        (problem,) = error.problems
        return Fault(rule="frontmatter-unparsable", problem=problem, fatal=True)


def _quoted(text: str) -> str:
    """Put quotes around plain values that hold a colon and a space, the commonest mistake."""
    return "\n".join(_quoted_line(line) for line in text.split("\n"))


def _quoted_line(line: str) -> str:
    found = _UNQUOTED.match(line)
    if found is None or ": " not in found[2]:
        return line
    value = found[2].replace("'", "''")
    return f"{found[1]}'{value}'"


def _mendable(fault: Fault) -> Fault:
    problem = fault.problem
    hint = "it is read as if values with a colon were quoted; quote them"
    mended = Problem(
        where=problem.where, key=problem.key, expected=problem.expected, found=problem.found, hint=hint
    )
    return Fault(rule=fault.rule, problem=mended)


def _repeated(read: WrittenYaml, where: str) -> tuple[Fault, ...]:
    return tuple(
        Fault(
            rule="duplicate-key",
            problem=Problem(
                where=where,
                key=f"line {line}",
                expected="each key once",
                found=f"{key} again, and the last counts",
            ),
        )
        for key, line in read.repeated
    )
