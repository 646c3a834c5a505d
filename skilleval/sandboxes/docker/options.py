"""The options of `sandbox=docker`; what they mean stands in `conf/sandbox/docker.yaml`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from skilleval.sandboxes.enclosed_options import EnclosedOptions

_SMALLEST_MEMORY_MB = 16  # less, and containers die before their program begins


class DockerOptions(EnclosedOptions):
    """`conf/sandbox/docker.yaml`, where each option is explained."""

    image: Annotated[str, Field(min_length=1)]
    build: bool
    runtime: str | None
    pool: Annotated[int, Field(ge=0, le=64)]
    reuse: bool
    memory_mb: Annotated[int, Field(ge=_SMALLEST_MEMORY_MB)]

    @model_validator(mode="after")
    def _all_matter(self) -> DockerOptions:
        if self.reuse and self.pool:
            msg = "pool to be 0 where reuse is true: then containers are kept anyway"
            raise ValueError(msg)
        return self
