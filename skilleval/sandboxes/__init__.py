"""Sandboxes: where untrusted code runs. A new one is a file here, a file in `conf/sandbox/` and a line below."""

from __future__ import annotations

from typing import Any

from skilleval.sandboxes.none import NoSandbox

SANDBOXES: dict[str, Any] = {
    "none": NoSandbox,
}
"""Kind → class with an `Options` model; built as `kind(options)`."""
