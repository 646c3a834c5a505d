"""The templates of the HTML pages, and the filters that make foreign text safe in them.

Jinja escapes every value; what comes from a skill or a model has its hidden characters spelled out besides. The
pages forbid themselves every request (content security policy), so a slip would stay without effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from skilleval.report.numbers import DASH, count, duration, rate
from skilleval.report.text import LAYOUT, escaped, one_line, pieces, script_json
from skilleval.report.uplift import FINDINGS

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
STYLES = ("page.css", "tables.css", "print.css")
SCRIPTS = ("tables.js", "page.js")
_SPLIT = "pf"  # outcomes whose stripes can be one element however many they are
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+"
_FOREIGN_NAME = re.compile(f"{_RIGHT_TO_LEFT}(?:[ ._/-]{_RIGHT_TO_LEFT})*")


@cache
def environment() -> Environment:
    """Give the templates with the filters that make foreign text safe."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("skilleval.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "seen": _seen,
        "block": _block,
        "line": one_line,
        "script_json": _script_json,
        "count": count,
        "rate": rate,
        "duration": duration,
        "padding": padding,
        "stripes": stripes,
        "said": said,
    }
    found.globals |= {
        "POLICY": POLICY,
        "STYLES": STYLES,
        "SCRIPTS": SCRIPTS,
        "inline": inline,
        "finding_shapes": FINDINGS,
    }
    return found


def padding(text: str) -> str:
    """Give the figure spaces after a short decimal that put the points of a right-aligned column in line."""
    whole, point, decimals = text.partition(".")
    if text == DASH or not whole[-1:].isdigit() or (point and not decimals.isdigit()):
        return ""
    missing = "\u2007" * (3 - len(decimals))
    return missing if point else f"\u2008{missing}"


def stripes(letters: str) -> Iterator[tuple[str, int]]:
    """Give the outcomes of repeats with how many follow each other, so that a long row is few elements."""
    for letter, same in groupby(letters):
        n = sum(1 for _ in same)
        yield from [(letter, n)] if letter in _SPLIT else [(letter, 1)] * n


def said(text: str) -> Markup:
    """Mark a sentence of ours: names written from right to left must not turn the figures beside them round."""
    from markupsafe import Markup

    marked, end = Markup(), 0
    for name in _FOREIGN_NAME.finditer(text):
        marked += _seen(text[end : name.start()]) + Markup("<bdi>{}</bdi>").format(_seen(name.group()))
        end = name.end()
    return marked + _seen(text[end:])


def _seen(text: str, keep: str = "") -> Markup:
    """Mark the hidden characters of a text, but those to keep."""
    from markupsafe import Markup, escape

    marked = Markup('<span class="hidden">{}</span>')
    parts = pieces(text, keep=keep)
    return Markup("").join(marked.format(escaped(part)) if hidden else escape(part) for part, hidden in parts)


def _block(text: str) -> Markup:
    """Mark the hidden characters of a text of several lines."""
    return _seen(text, keep=LAYOUT)


def _script_json(value: object) -> Markup:
    from markupsafe import Markup

    return Markup(script_json(value))  # noqa: S704 - script_json escapes all that could leave the script element


@cache
def inline(name: str) -> Markup:
    """Give a file of this package as it stands, for an element of its own."""
    from markupsafe import Markup

    return Markup(files("skilleval.report").joinpath("templates", name).read_text("utf-8"))  # noqa: S704 - a file of this package


@cache
def charts() -> Markup:
    """Give the chart library as one script; only its own end tag could end the element too early."""
    import vl_convert
    from markupsafe import Markup

    library = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return Markup(library.replace("</script", "<\\/script"))  # noqa: S704 - a library, no foreign text
