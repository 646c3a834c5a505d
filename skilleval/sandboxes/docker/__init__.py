"""`docker`: runs strangers' programs in containers of a Docker engine on this machine."""

from __future__ import annotations

from skilleval.sandboxes.docker.sandbox import DockerSandbox

__all__ = ["DockerSandbox"]
