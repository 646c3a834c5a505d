r"""A small article that takes up everything, to begin one's own with; and the Makefile that sets it."""

from __future__ import annotations

from collections.abc import Sequence

from skilleval.report.latex_text import escape
from skilleval.report.latex_writer import preamble
from skilleval.report.numbers import count
from skilleval.report.paper.document import Paper, Quoted
from skilleval.report.paper.pictures import Picture
from skilleval.report.paper.tables import Placed

_SHOWN = 3
MAKEFILE = r"""# `make pdf` sets main.tex; `make verify` recomputes every number from data/.
.PHONY: pdf verify clean

PDFLATEX = pdflatex -no-shell-escape -interaction=nonstopmode -halt-on-error

pdf:
	$(PDFLATEX) main.tex
	if command -v bibtex >/dev/null; then bibtex main; fi
	$(PDFLATEX) main.tex
	$(PDFLATEX) main.tex

verify:
	skilleval verify .

clean:
	rm -f main.aux main.bbl main.blg main.log main.out main.pdf
"""


def main_tex(
    paper: Paper, numbers: Sequence[Quoted], tables: Sequence[Placed], pictures: Sequence[Picture]
) -> str:
    """Write the article: what was done, every table and every figure."""
    lines = [
        "% Yours to change: `skilleval paper` writes it once, and `skilleval verify` looks at its macros only.",
        *preamble(),
        r"\input{numbers}",
        rf"\title{{{escape(paper.title)}}}",
        r"\author{}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        "",
        r"\section{Methods}",
        r"\input{methods}",
        "",
        r"\section{Results}",
        *_sentence(numbers),
        *(rf"\input{{tables/{one.stem}}}" for one in tables),
        *(line for picture in pictures for line in _figure(picture)),
        "",
        r"\bibliographystyle{plain}",
        r"\bibliography{references}",
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def _sentence(numbers: Sequence[Quoted]) -> list[str]:
    """Show how numbers are quoted, with the first rates there are."""
    rates = [one for one in numbers if one.column == "completion_rate" and one.value is not None]
    told = [rf"\{one.macro}{{}} ({escape(one.row)})" for one in rates[:_SHOWN]]
    more = len(rates) - len(told)
    rest = f", and {escape(count(more))} more" if more > 0 else ""
    return [f"The completion rates are {', '.join(told)}{rest}.", ""] if told else []


def _figure(picture: Picture) -> list[str]:
    return [
        "",
        r"\begin{figure}[tbp]",
        r"\centering",
        rf"\includegraphics[width=\ifdim\linewidth<8.4cm \linewidth\else 8.4cm\fi]{{figures/{picture.stem}.pdf}}",
        rf"\caption{{{escape(picture.title)}. {escape(picture.caption)}}}",
        rf"\label{{fig:{picture.stem}}}",
        r"\end{figure}",
    ]
