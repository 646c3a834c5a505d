"""A table of text as LaTeX with rules of the package booktabs; foreign text in it is escaped here."""

from __future__ import annotations

from skilleval.report.latex_text import escape
from skilleval.report.numbers import counted
from skilleval.report.text_table import TextTable

MAX_ROWS = 60
_MAX_CELL = 160
_WIDE = 36
_COLUMN = r">{\raggedright\arraybackslash}p{4.2cm}"

FIT = r"""\newsavebox{\evalbox}
\newcommand{\evalfit}[1]{\sbox{\evalbox}{#1}%
  \ifdim\wd\evalbox>\linewidth\resizebox{\linewidth}{!}{\usebox{\evalbox}}\else\usebox{\evalbox}\fi}"""
"""What the preamble may define: tables wider than the page are made smaller. Needs the package graphicx."""

PACKAGES = ("array", "booktabs", "graphicx")

_ENDS = (".", "?", "!")


def floating(table: TextTable, *, label: str) -> str:
    """Write a table that floats, with its title and note as the caption, for a document that loads `PACKAGES`."""
    note = f"{table.note} {_left_out(table)}".strip()
    lines = [
        r"\providecommand{\evalfit}[1]{#1}%",
        r"\begin{table}[tbp]",
        r"\centering",
        rf"\caption{{{caption(table.title, note)}}}",
        rf"\label{{tab:{label}}}",
        r"\smallskip",
        rf"\evalfit{{{tabular(table)}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def caption(title: str, note: str) -> str:
    """Write a caption: the title as a sentence, then what is to be known."""
    said = f"{escape(title)}{'' if title.endswith(_ENDS) else '.'}" if title else ""
    return f"{said} {escape(note)}".strip()


def tabular(table: TextTable) -> str:
    """Write the cells of a table, at most `MAX_ROWS` rows of them."""
    shown = table.rows[:MAX_ROWS]
    columns = "".join(_column(table, index) for index in range(len(table.header)))
    lines = [
        rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\toprule",
        _line(table.header),
        r"\midrule",
        *map(_line, shown),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _left_out(table: TextTable) -> str:
    more = len(table.rows) - MAX_ROWS
    return f"{counted(more, 'more row')} not shown." if more > 0 else ""


def _column(table: TextTable, index: int) -> str:
    if table.numeric[index]:
        return "r"
    longest = max((len(row[index]) for row in table.rows), default=0)
    return _COLUMN if longest > _WIDE else "l"


def _line(cells: tuple[str, ...]) -> str:
    return " & ".join(escape(cell, limit=_MAX_CELL) for cell in cells) + r" \\"
