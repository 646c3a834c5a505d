"""The options of `sandbox=docker`; what they mean stands in `conf/sandbox/docker.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from skilleval.sandboxes.proxy import targets
from skilleval.sandboxes.resources import Resources
from skilleval.sandboxes.view import absolute
from skilleval.strict import StrictModel

_SMALLEST_MEMORY_MB = 16  # less, and containers die before their program begins

Count = Annotated[int, Field(gt=0)]
Texts = Annotated[tuple[str, ...], Field(strict=False)]


def _host(entry: str) -> str:
    targets(entry)
    return entry


def _readable(text: str) -> str:
    path = absolute(Path(text).expanduser())
    if not path.exists():
        msg = "an existing file or folder"
        raise ValueError(msg)
    if holds_a_home(path):
        msg = "a path inside a home folder, not the whole of it"
        raise ValueError(msg)
    return str(path)


def holds_a_home(path: Path) -> bool:
    """Say whether a folder is, or holds, the user's home: too much to show to a stranger's program."""
    return Path.home().resolve().is_relative_to(path.resolve())


class DockerOptions(StrictModel):
    """`conf/sandbox/docker.yaml`, where each option is explained."""

    image: Annotated[str, Field(min_length=1)]
    build: bool
    runtime: str | None
    pool: Annotated[int, Field(ge=0, le=64)]
    reuse: bool
    network: bool
    allow_hosts: Annotated[tuple[Annotated[str, AfterValidator(_host)], ...], Field(strict=False)]
    pass_env: Texts
    read: Annotated[tuple[Annotated[str, AfterValidator(_readable)], ...], Field(strict=False)]
    memory_mb: Annotated[int, Field(ge=_SMALLEST_MEMORY_MB)]
    cpus: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None
    cpu_seconds: Count | None
    processes: Count
    file_size_mb: Count
    open_files: Annotated[int, Field(ge=16)]
    tmp_mb: Count

    @model_validator(mode="after")
    def _all_matter(self) -> DockerOptions:
        if self.network and self.allow_hosts:
            msg = "no hosts in allow_hosts where network is true: then every host can be reached"
            raise ValueError(msg)
        if self.reuse and self.pool:
            msg = "pool to be 0 where reuse is true: then containers are kept anyway"
            raise ValueError(msg)
        return self

    @property
    def resources(self) -> Resources:
        """The limits of one trial."""
        return Resources(
            memory_mb=self.memory_mb,
            cpus=self.cpus,
            cpu_seconds=self.cpu_seconds,
            processes=self.processes,
            file_size_mb=self.file_size_mb,
            open_files=self.open_files,
            tmp_mb=self.tmp_mb,
        )
