"""Figures as files."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from reports import CALCULATOR, FLAKY, summary_frame

from skilleval.figures import FIGURES
from skilleval.figures.export import pdf, png, svg

PROGRAM = """
import hashlib, json, sys
from skilleval.figures.export import pdf, png, svg
spec = json.load(sys.stdin)
print(*(hashlib.sha256(b).hexdigest() for b in (svg(spec).encode(), pdf(spec), png(spec))))
"""


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    """Give a figure for paper."""
    found: dict[str, Any] = (
        FIGURES["completion"].chart(summary_frame(CALCULATOR, FLAKY), paper=True).to_dict()
    )
    return found


def test_a_specification_has_one_form_of_bytes(spec: Mapping[str, Any]) -> None:
    """Drawn again, here or by another process, a figure is the same file; a PDF holds no date."""
    here = {form.__name__: {form(spec) for _ in range(6)} for form in (pdf, svg)}
    assert {name: len(found) for name, found in here.items()} == {"pdf": 1, "svg": 1}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(spec),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    ours = [svg(spec).encode(), pdf(spec), png(spec)]
    assert done.stdout.split() == [hashlib.sha256(one).hexdigest() for one in ours]


def test_a_figure_for_paper_is_one_column_wide(spec: Mapping[str, Any]) -> None:
    """240 points are 3.3 inches; the letters of the PDF are inside it."""
    document = pdf(spec)
    assert re.search(rb"/MediaBox \[0 0 240 \d+\]", document)
    assert b"LiberationSans" in document
    assert re.search(r'<svg [^>]*width="240"', svg(spec))


def test_a_picture_has_two_dots_a_pixel(spec: Mapping[str, Any]) -> None:
    """Unless another scale is asked for."""
    sizes = [int.from_bytes(picture[16:20], "big") for picture in (png(spec), png(spec, scale=1))]
    assert sizes == [480, 240]


def test_nothing_is_loaded(spec: Mapping[str, Any]) -> None:
    """A specification that names an address gets nothing from it."""
    kept = {key: value for key, value in spec.items() if key not in {"datasets", "layer"}}
    away = {**kept, "data": {"url": "http://127.0.0.1:9/rows.json"}, "mark": "point"}
    with pytest.raises(ValueError, match=r"127\.0\.0\.1"):
        svg(away)
