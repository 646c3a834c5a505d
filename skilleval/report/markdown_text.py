"""Foreign text in Markdown: shown as it is, readable in the source too, and never interpreted.

Plain words stand bare. What a renderer could read as markup, a link, a mention or an emoji stands in a code span
whose fence is longer than any in it. A text that no code span can hold in a table (`|`) is written with entities.
"""

from __future__ import annotations

import re

from skilleval.report.text import block, one_line

# Brackets around two numbers are our own intervals; a link would need one of ([: behind them.
_INTERVAL = re.compile(r"\[[−+\d.\u202f]+, [−+\d.\u202f]+\](?![(\[:])")
_INTERPRETED = re.compile(
    r"""[\\`*{}\[\]|~$@#]          # always, wherever it stands
      | <(?=[A-Za-z/!?]) | >(?!\s) # tags
      | &(?=[#\w])                 # entities
      | (?<![^\W_])_ | _(?![^\W_]) # emphasis; not inside a word
      | :/ | www\. | mailto: | xmpp: | :[\w+-]+:
    """,
    re.IGNORECASE | re.VERBOSE,
)
_AT_START = re.compile(r"^([-+=>]+|\d+[.)])(?=\s|$)|^[-+=>]{2,}|^>")
_MARKUP = re.compile(r"[\\`*_{}\[\]<>&|~$@#:]")
_FENCES = re.compile(r"`+")
_BLOCK_FENCES = re.compile(r"`{3,}")


def escape(text: str) -> str:
    """Give foreign text as Markdown that shows it in one line and means nothing else."""
    line = one_line(text)
    if line != line.strip() or ("|" in line):
        return f"<code>{_MARKUP.sub(_entity, line)}</code>"
    span = _interpreted(line)
    if span is None:
        return line
    start, end = span
    return f"{line[:start]}{_code(line[start:end])}{line[end:]}"


def fenced(text: str) -> str:
    """Give foreign text as a code block that nothing in it can close."""
    longest = max((len(run) for run in _BLOCK_FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{block(text)}\n{fence}"


def _interpreted(line: str) -> tuple[int, int] | None:
    """Find the whole words from the first to the last that means something to a renderer."""
    masked = _INTERVAL.sub(lambda match: "0" * len(match.group()), line)
    found = [match.span() for match in _INTERPRETED.finditer(masked)]
    found += [match.span() for match in _AT_START.finditer(line)]
    if not found:
        return None
    first, last = min(start for start, _ in found), max(end for _, end in found)
    before, after = line.rfind(" ", 0, first), line.find(" ", last)
    return before + 1, len(line) if after < 0 else after


def _code(text: str) -> str:
    lengths = {len(run) for run in _FENCES.findall(text)}
    fence = "`" * next(n for n in range(1, len(lengths) + 2) if n not in lengths)
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _entity(match: re.Match[str]) -> str:
    return f"&#{ord(match.group())};"
