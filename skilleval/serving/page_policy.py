"""What a report may do that the local page shows: run the scripts that skilleval ships, each known by its hash.

A report on disk allows its inline scripts, for no server vouches for them. Served, it gets a policy as a header too,
and a browser obeys both: a script that came into the page in any other way has no hash in it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from skilleval.report.html_environment import charts

_REST = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


@cache
def page_policy() -> str:
    """Give the content security policy of a report page."""
    hashes = " ".join(f"'sha256-{_hash(text)}'" for text in _scripts())
    return f"script-src {hashes}; {_REST}"


def _scripts() -> Iterator[str]:
    """Give every script that our pages may hold."""
    templates = files("skilleval.report").joinpath("templates")
    for path in sorted(templates.iterdir(), key=lambda path: path.name):
        if path.name.endswith(".js"):
            yield path.read_text("utf-8")
    yield str(charts())


def _hash(script: str) -> str:
    parsed = script.replace("\r\n", "\n").replace("\r", "\n")  # as a browser reads it
    return base64.b64encode(hashlib.sha256(parsed.encode()).digest()).decode()
