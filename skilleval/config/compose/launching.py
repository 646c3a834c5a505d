"""What we expect of Hydra's launchers: that they are installed, and that their jobs find the project."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from skilleval.errors import ConfigError, Problem, SkillevalError

GROUP: Final = "hydra/launcher"
_EXTRAS: Final = {
    "joblib": "joblib",
    "ray": "ray",
    "ray_aws": "ray",
    "submitit_local": "submitit",
    "submitit_slurm": "submitit",
}
"""Config of a plugin → the extra of ours that installs it."""
_LOSSES: Final = (("submitit.core.utils", "UncompletedJobError"), ("ray.exceptions", "RayError"))
"""What a launcher raises when a process of its own is gone, by the module that has it."""


class LaunchError(SkillevalError):
    """A launcher could not start a job at all."""

    exit_code = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The process that started a sweep, and the folder in which its relative paths begin."""

    host: str = field(default_factory=socket.gethostname)
    pid: int = field(default_factory=os.getpid)
    folder: Path = field(default_factory=Path.cwd)

    @property
    def is_here(self) -> bool:
        """Whether this is that process."""
        return (self.host, self.pid) == (socket.gethostname(), os.getpid())


def missing_launcher(option: str) -> ConfigError | None:
    """Say which extra has a launcher that is not installed; null where it is none that we know."""
    extra = _EXTRAS.get(option)
    if extra is None:
        return None
    problem = Problem(
        where="command line",
        key=GROUP,
        expected=f"the plugin that has the launcher {option}",
        found="not there",
    )
    hint = f"install the extra: pip install 'skilleval[{extra}]'"
    return ConfigError("the launcher is not installed", problems=(problem,), hint=hint)


@contextmanager
def at_home(origin: Origin) -> Iterator[None]:
    """Work in the folder in which the sweep was started, also in processes that a launcher started elsewhere.

    Raises:
        ConfigError: this machine does not have the folder.
    """
    if origin.is_here:
        yield
        return
    before = Path.cwd()
    try:
        os.chdir(origin.folder)  # noqa: TID251 - a worker starts wherever its engine was started
    except OSError as error:
        found = (error.strerror or "no folder").lower()
        problem = Problem(where=socket.gethostname(), expected=f"the folder {origin.folder}", found=found)
        hint = (
            "jobs on other machines need the project and its results on a file system that all of them share"
        )
        raise ConfigError("the project is not on this machine", problems=(problem,), hint=hint) from None
    try:
        yield
    finally:
        os.chdir(before)  # noqa: TID251 - as above: the worker is the engine's


@contextmanager
def engines_quiet() -> Iterator[None]:
    """Keep engines from sending statistics to their makers, and from repeating what says nothing about a job."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    logger = logging.getLogger("submitit")
    logger.addFilter(_nothing)
    try:
        yield
    finally:
        logger.removeFilter(_nothing)


def _nothing(_: logging.LogRecord) -> bool:
    """Drop what submitit logs: it writes to stdout, and what matters it raises."""
    return False


def losses() -> tuple[type[BaseException], ...]:
    """Give what launchers raise when a process was killed. An engine that is not loaded raises nothing."""
    loaded = ((sys.modules.get(module), name) for module, name in _LOSSES)
    return (BrokenExecutor, *(getattr(module, name) for module, name in loaded if module is not None))


def loss_words(error: BaseException) -> str:
    """Say in one line what an engine tells of a process that is gone: it adds the log of the whole job."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
