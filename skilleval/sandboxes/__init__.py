"""Sandboxes: where untrusted code runs. A new one is a file here, a file in `conf/sandbox/` and a line below."""

from __future__ import annotations

from typing import Any

from skilleval.sandboxes.docker import DockerSandbox
from skilleval.sandboxes.none import NoSandbox
from skilleval.sandboxes.process import ProcessSandbox

SANDBOXES: dict[str, Any] = {
    "none": NoSandbox,
    "process": ProcessSandbox,
    "docker": DockerSandbox,
}
"""Kind → class with an `Options` model; built as `kind(options, hidden)`, where `hidden` is what no program may see."""
