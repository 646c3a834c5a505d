"""Figures as files for papers and pages: SVG, PDF and PNG of a Vega-Lite specification, without a network.

The renderer has its own copy of the libraries and of Liberation Sans, in which paper figures are set. So nothing is
loaded, neither data nor images may come from an address, and one specification gives the same bytes on every machine
with the same version of the renderer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import vl_convert

_PNG_SCALE = 2.0
_NOWHERE: list[str] = []
"""The addresses that a specification may load data from."""

_STREAM = re.compile(rb"(\bstream\r?\n.*?\bendstream\b)", re.DOTALL)
_RESOURCES = re.compile(rb"(?:^ +/[a-z]+\d+ \d+ 0 R\n)+", re.MULTILINE)


def svg(spec: Mapping[str, Any]) -> str:
    """Draw a specification as SVG, with one line feed at its end."""
    drawn: str = vl_convert.vegalite_to_svg(dict(spec), allowed_base_urls=_NOWHERE)
    return f"{drawn.rstrip()}\n"


def pdf(spec: Mapping[str, Any]) -> bytes:
    """Draw a specification as PDF, a point a pixel of the specification, with the fonts it uses inside."""
    drawn: bytes = vl_convert.vegalite_to_pdf(dict(spec), allowed_base_urls=_NOWHERE)
    return _in_order(drawn)


def png(spec: Mapping[str, Any], *, scale: float = _PNG_SCALE) -> bytes:
    """Draw a specification as PNG, `scale` dots a pixel of the specification."""
    drawn: bytes = vl_convert.vegalite_to_png(dict(spec), scale=scale, allowed_base_urls=_NOWHERE)
    return drawn


def _in_order(document: bytes) -> bytes:
    """Sort the resources of each page, which the renderer lists in any order.

    No line changes its length within a list, so the table of byte positions at the end stays true.
    """
    parts = _STREAM.split(document)
    parts[::2] = [_RESOURCES.sub(_sorted_lines, part) for part in parts[::2]]
    return b"".join(parts)


def _sorted_lines(match: re.Match[bytes]) -> bytes:
    return b"".join(sorted(match.group().splitlines(keepends=True)))
