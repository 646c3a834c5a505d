"""One use of Hydra: what its plugins serve, and its global state set up and put back.

Hydra builds plugins from a class and a path alone, so what they serve waits in a singleton. Hydra's own `Singleton`
is used because launchers carry it to other processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from hydra import initialize_config_dir
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.singleton import Singleton
from omegaconf import OmegaConf

from skilleval.config.compose.layer_files import LayerFile, read_layers
from skilleval.config.compose.overrides import chosen_groups, parse_overrides
from skilleval.config.request import Request
from skilleval.config.shipped import shipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What the plugins serve: folders, the two settings files, and the name of the sweep ("" outside of one)."""

    request: Request
    layers: tuple[LayerFile, ...]
    sweep_id: str = ""

    def without_groups(self, groups: Sequence[str]) -> Sources:
        """Give the sources with files that say nothing about some groups."""
        return replace(self, layers=tuple(layer.without_groups(groups) for layer in self.layers))

    def choices_only(self) -> Sources:
        """Give the sources with files that only choose options of groups."""
        return replace(self, layers=tuple(layer.choices_only() for layer in self.layers))

    def emptied(self) -> Sources:
        """Give the sources with files that say nothing at all."""
        return replace(self, layers=tuple(replace(layer, values={}) for layer in self.layers))


def read_sources(request: Request, *, layers: tuple[LayerFile, ...] | None = None) -> Sources:
    """Read the settings files; what the command line chooses is left out of them, so that it really wins.

    Raises:
        ConfigError: an override or a file cannot be read.
    """
    chosen = chosen_groups(request, parse_overrides(request.overrides))
    found = read_layers(request) if layers is None else layers
    return Sources(request=request, layers=found).without_groups(sorted(chosen))


class Session(metaclass=Singleton):
    """Holds what the plugins of the running composition serve."""

    def __init__(self) -> None:
        self.sources: Sources | None = None


def current_sources() -> Sources:
    """Give what the running composition serves."""
    sources = Session().sources
    assert sources is not None, "plugins are used inside serving()"
    return sources


@contextmanager
def serving(sources: Sources) -> Iterator[None]:
    """Let Hydra's plugins serve these sources, and leave Hydra's global state as it was."""
    from skilleval.config.compose.plugins import register

    register()
    OmegaConf.register_new_resolver("skilleval.shipped", _shipped, replace=True)
    OmegaConf.register_new_resolver("skilleval.sweep_id", _sweep_id, replace=True)
    session, glob = Session(), GlobalHydra.instance()
    before, hydra = session.sources, glob.hydra
    session.sources = sources
    glob.clear()
    try:
        yield
    finally:
        session.sources = before
        GlobalHydra.instance().hydra = hydra


@contextmanager
def loader_of(sources: Sources) -> Iterator[ConfigLoader]:
    """Give Hydra's loader over these sources."""
    with (
        serving(sources),
        initialize_config_dir(str(shipped("conf")), job_name="skilleval", version_base="1.3"),
    ):
        yield GlobalHydra.instance().config_loader()


def _shipped(name: str) -> str:
    return str(shipped(name))


def _sweep_id() -> str:
    sources = Session().sources
    return (sources.sweep_id if sources else "") or "none"
