"""The options that all sandboxes share which enclose programs; what they mean stands in `conf/sandbox/`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from skilleval.sandboxes.proxy import targets
from skilleval.sandboxes.resources import Resources
from skilleval.sandboxes.view import absolute, lies_within, own_homes
from skilleval.strict import StrictModel

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
    real = path.resolve()
    return any(lies_within(home, real) for home in own_homes())


class EnclosedOptions(StrictModel):
    """What programs may see, reach and use up."""

    network: bool
    allow_hosts: Annotated[tuple[Annotated[str, AfterValidator(_host)], ...], Field(strict=False)]
    pass_env: Texts
    read: Annotated[tuple[Annotated[str, AfterValidator(_readable)], ...], Field(strict=False)]
    memory_mb: Count
    cpus: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None
    cpu_seconds: Count | None
    processes: Count
    file_size_mb: Count
    open_files: Annotated[int, Field(ge=16)]
    tmp_mb: Count

    @model_validator(mode="after")
    def _hosts_matter(self) -> Self:
        if self.network and self.allow_hosts:
            msg = "no hosts in allow_hosts where network is true: then every host can be reached"
            raise ValueError(msg)
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """The values of the variables that programs are given."""
        return tuple(os.environ[name] for name in self.pass_env if name in os.environ)

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
