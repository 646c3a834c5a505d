from __future__ import annotations

import base64
import hashlib
import re

import pytest
from diffs import diff_of, row_of
from reports import demo_report

from skilleval.report import diff_html, html_writer
from skilleval.serving.page_policy import page_policy


def hashes(page: str) -> list[str]:
    """Give the hashes of the scripts in a page, as a browser makes them; data is none."""
    bodies = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    return [
        f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'" for body in bodies
    ]


@pytest.mark.parametrize("page", [html_writer.render(demo_report()), diff_html.render(diff_of(row_of()))])
def test_the_scripts_of_our_pages_are_allowed(page: str) -> None:
    """Each script element of a report or a comparison has its hash in the policy."""
    found = hashes(page)
    assert found
    assert [one for one in found if one not in page_policy()] == []


def test_nothing_else_is_allowed() -> None:
    """No inline script in general, no source, no evaluation: what is not known by its hash does not run."""
    (scripts,) = re.findall(r"script-src ([^;]*)", page_policy())
    assert all(one.startswith("'sha256-") for one in scripts.split())
    (foreign,) = hashes("<script>alert(1)</script>")
    assert foreign not in scripts
