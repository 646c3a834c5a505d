"""Where a config of a composition comes from: Hydra's own list of sources lacks the folders of `hydra.searchpath`."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.core.config_loader import ConfigLoader
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigSource
from omegaconf import OmegaConf

from skilleval.config.compose.overrides import parse_overrides
from skilleval.config.request import Request

_SEARCHPATH = "hydra.searchpath"


class Origins:
    """The sources of one composition, in the order in which they are asked."""

    def __init__(self, loader: ConfigLoader, request: Request) -> None:
        *known, schema = loader.get_sources()
        self._sources = [*known, *(_opened(path) for path in _searched(known, request)), schema]

    def of(self, config_path: str) -> ConfigSource:
        """Give the source that a config is read from."""
        return next(source for source in self._sources if source.is_config(config_path))


def _searched(known: Sequence[ConfigSource], request: Request) -> list[str]:
    """Give the search path that the command line sets, else the primary config."""
    for override in parse_overrides(request.overrides):
        if override.key_or_group == _SEARCHPATH:
            value = override.value()
            return [str(path) for path in value] if isinstance(value, list) else []
    primary = next(source for source in known if source.is_config(request.config_name))
    paths = OmegaConf.select(primary.load_config(request.config_name).config, _SEARCHPATH)
    return [str(path) for path in paths or []]


def _opened(path: str) -> ConfigSource:
    scheme = path.partition("://")[0] if "://" in path else "file"
    kinds = [kind for kind in Plugins.instance().discover(ConfigSource) if issubclass(kind, ConfigSource)]
    kind = next(kind for kind in kinds if kind.scheme() == scheme)
    return kind(provider="search path", path=path if "://" in path else f"file://{path}")
