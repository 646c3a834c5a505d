"""Templates of notebooks: plain Python files in the percent format, which editors open as notebooks too.

A cell begins with `# %% id="name"`, a cell of text with `# %% [markdown] id="name"`; its lines are comments. The cell
with `tags=["parameters"]` holds what is filled in. Comments above the first cell are for who reads the template.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from skilleval.errors import ConfigError, Problem

PARAMETERS = "parameters"
"""The tag of the cell that is filled in, as papermill calls it."""

_HEADER = re.compile(r"# %%(?P<text>\s+\[(?:markdown|md)\])?(?P<options>.*)")
_OPTION = re.compile(r"\s*(id|tags)=")
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a template; `line` is that of its header."""

    id: str
    source: str
    line: int
    is_text: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template: what it is called, where it stands, and its cells."""

    name: str
    where: str
    cells: tuple[Cell, ...]


def read_template(text: str, *, name: str, where: str) -> Template:
    """Read the cells of a template; a cell without an id is called after its place.

    Raises:
        ConfigError: it has no cells, code above them, a header that cannot be read, or one id twice.
    """
    blocks = list(_blocks(text.splitlines()))
    _check_beginning(blocks[0][1], where)
    cells = tuple(_cell(number, *block, where=where) for number, block in enumerate(blocks[1:], start=1))
    if not cells:
        raise _refused(where, Problem(where=where, expected="cells, each below a line `# %%`", found="none"))
    for cell, n in Counter(cell.id for cell in cells).items():
        if n > 1:
            raise _refused(where, Problem(where=where, key=f"id={cell}", expected="once", found=f"{n} times"))
    return Template(name=name, where=where, cells=cells)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Give the lines above the first cell, then header and lines of each cell, with the number of the first one."""
    starts = [number for number, line in enumerate(lines) if _HEADER.fullmatch(line)]
    bounds = [0, *starts, len(lines)]
    for start, end in pairwise(bounds):
        yield start + 1, list(lines[start:end])


def _check_beginning(lines: Sequence[str], where: str) -> None:
    code = next((n for n, line in enumerate(lines, start=1) if line.strip() and not line.startswith("#")), 0)
    if code:
        problem = Problem(where=f"{where}:{code}", expected="a cell above it, which begins with `# %%`")
        raise _refused(where, problem)


def _cell(number: int, line: int, lines: Sequence[str], *, where: str) -> Cell:
    header = _HEADER.fullmatch(lines[0])
    assert header is not None
    options = _options(header["options"], f"{where}:{line}")
    name = options.get("id", f"cell-{number}")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        expected = "an id of at most 64 letters, digits, - and _"
        raise _refused(where, Problem(where=f"{where}:{line}", key="id", expected=expected, found=repr(name)))
    is_text = header["text"] is not None
    source = "\n".join(_uncommented(lines[1:]) if is_text else lines[1:]).strip("\n")
    return Cell(id=name, source=source, line=line, is_text=is_text, tags=tuple(options.get("tags", ())))


def _options(text: str, place: str) -> dict[str, Any]:
    """Read `id="x" tags=["y"]`; the values are JSON."""
    found: dict[str, Any] = {}
    while text.strip():
        option = _OPTION.match(text)
        try:
            if option is None:
                raise ValueError  # noqa: TRY301 - the same answer as for a value that is no JSON
            value, end = json.JSONDecoder().raw_decode(text, option.end())
        except ValueError:
            expected = 'id="name" or tags=["name"]'
            problem = Problem(where=place, expected=expected, found=text.strip()[:120])
            raise _refused(place, problem) from None
        found[option[1]] = value
        text = text[end:]
    return found


def _uncommented(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield line.removeprefix("#").removeprefix(" ")


def _refused(where: str, problem: Problem) -> ConfigError:
    return ConfigError(f"{where.partition(':')[0]} is no template of a notebook", problems=(problem,))
